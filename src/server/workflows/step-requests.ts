import type { Clock } from '../../core/clock.ts'
import { PunctualError } from '../../core/errors.ts'
import { type HeldFlow, learn } from './loaded-workflow.ts'
import type { Asked } from './prepare-transition.ts'

/** What somebody decided about a step, once it is known how the flow stands; throws why that cannot be. */
export type Request = (held: HeldFlow) => Asked

/** So long somebody waits until it is written down, however often that is tried. */
const WAIT_MS = 10_000

/**
 * Who decided something waits until it is written down, or refused: however often the flow is read again, but
 * not for ever. What its sender has given up, or was told not to have happened, must not happen any more.
 */
export interface Requests {
  add(runId: number, request: Request, gone?: AbortSignal): Promise<void>
  has(runId: number): boolean
  /** The flows that somebody has decided something about. */
  flows(): Iterable<number>
  /** The next one, which the flow knows from now on; those that cannot be are refused on the way. */
  next(held: HeldFlow): Asked | null
  /** The one that was taken last is written down. */
  answer(runId: number): void
  /** The one that was taken last cannot be written down; says whether there was one. */
  fail(runId: number): boolean
  /** There is no such flow, or it is over. */
  refuse(runId: number): void
}

const NOT_IN_TIME =
  'it could not be written down in time; look at the step, and decide again if it still waits'

interface Waiting {
  readonly request: Request
  resolve(): void
  reject(error: unknown): void
  isTaken: boolean
}

export function createRequests(clock: Pick<Clock, 'sleep'>): Requests {
  const waiting = new Map<number, Waiting[]>()

  const first = (runId: number) => waiting.get(runId)?.[0]

  /** Says whether it was still there. */
  const leave = (runId: number, one: Waiting): boolean => {
    const line = waiting.get(runId) ?? []
    const left = line.filter((other) => other !== one)
    if (left.length > 0) waiting.set(runId, left)
    else waiting.delete(runId)
    return left.length < line.length
  }

  const taken = (runId: number): Waiting | undefined => {
    const one = first(runId)
    return one?.isTaken ? one : undefined
  }

  return {
    async add(runId, request, gone) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const one = { request, resolve, reject, isTaken: false }
      waiting.set(runId, [...(waiting.get(runId) ?? []), one])
      const isOver = new AbortController()
      const wake = gone ? AbortSignal.any([gone, isOver.signal]) : isOver.signal
      void clock.sleep(WAIT_MS, wake).then(() => {
        if (leave(runId, one)) reject(new PunctualError('store_unavailable', NOT_IN_TIME))
      })
      await promise.finally(() => isOver.abort('over'))
    },
    has: (runId) => waiting.has(runId),
    flows: () => waiting.keys(),
    next(held) {
      const { runId } = held.record
      for (let one = first(runId); one; one = first(runId)) {
        try {
          const asked = one.request(held)
          learn(held, asked.mark)
          one.isTaken = true
          return asked
        } catch (error) {
          leave(runId, one)
          one.reject(error)
        }
      }
      return null
    },
    answer(runId) {
      const one = taken(runId)
      if (one && leave(runId, one)) one.resolve()
    },
    fail(runId) {
      const one = taken(runId)
      if (!one) return false
      leave(runId, one)
      one.reject(new PunctualError('internal', 'what was decided cannot be written down'))
      return true
    },
    refuse(runId) {
      for (let one = first(runId); one; one = first(runId)) {
        leave(runId, one)
        one.reject(new PunctualError('run_is_final', 'the run has ended, or has not begun'))
      }
    },
  }
}
