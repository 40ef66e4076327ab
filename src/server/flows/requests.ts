import { PunctualError } from '../../core/errors.ts'
import { type HeldFlow, learn } from './held-flow.ts'
import type { Asked } from './make-move.ts'

/** What somebody decided about a step, once it is known how the flow stands; throws why that cannot be. */
export type Request = (held: HeldFlow) => Asked

/** Who decided something waits until it is written down, or refused: however often the flow is read again. */
export interface Requests {
  add(runId: number, request: Request): Promise<void>
  has(runId: number): boolean
  /** The next one, which the flow knows from now on; those that cannot be are refused on the way. */
  next(held: HeldFlow): Asked | null
  /** The one that was taken last is written down. */
  answer(runId: number): void
  /** There is no such flow, or it is over. */
  refuse(runId: number): void
}

interface Waiting {
  readonly request: Request
  resolve(): void
  reject(error: unknown): void
  isTaken: boolean
}

export function createRequests(): Requests {
  const waiting = new Map<number, Waiting[]>()

  const first = (runId: number) => waiting.get(runId)?.[0]

  const leave = (runId: number): void => {
    const line = waiting.get(runId)
    line?.shift()
    if (line?.length === 0) waiting.delete(runId)
  }

  return {
    add(runId, request) {
      return new Promise((resolve, reject) => {
        const line = waiting.get(runId) ?? []
        line.push({ request, resolve, reject, isTaken: false })
        waiting.set(runId, line)
      })
    },
    has: (runId) => waiting.has(runId),
    next(held) {
      const { runId } = held.record
      for (let one = first(runId); one; one = first(runId)) {
        try {
          const asked = one.request(held)
          learn(held, asked.mark)
          one.isTaken = true
          return asked
        } catch (error) {
          leave(runId)
          one.reject(error)
        }
      }
      return null
    },
    answer(runId) {
      const one = first(runId)
      if (!one?.isTaken) return
      leave(runId)
      one.resolve()
    },
    refuse(runId) {
      for (let one = first(runId); one; one = first(runId)) {
        leave(runId)
        one.reject(new PunctualError('run_is_final', 'the run has ended, or has not begun'))
      }
    },
  }
}
