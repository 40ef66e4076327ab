import type { Clock } from '../../core/clock.ts'
import { PunctualError } from '../../core/errors.ts'
import { type LoadedWorkflow, applyMark } from './loaded-workflow.ts'
import type { StepDecision } from './prepare-transition.ts'

/**
 * A user's decision about a step, applied to the current state of the workflow; throws if it is not
 * possible.
 */
export type StepRequest = (loaded: LoadedWorkflow) => StepDecision

/** How long a user waits for the decision to be written, however often it is tried. */
const WAIT_MS = 10_000

/**
 * Pending decisions of users. A caller waits until the decision is written or refused, for a
 * limited time. A decision must not be applied after its caller disconnected or got an error.
 */
export interface StepRequests {
  add(runId: number, request: StepRequest, disconnected?: AbortSignal): Promise<void>
  has(runId: number): boolean
  /** The workflows with pending decisions. */
  workflows(): Iterable<number>
  /**
   * Applies the next possible decision to the workflow in memory; impossible ones are refused on
   * the way.
   */
  next(loaded: LoadedWorkflow): StepDecision | null
  /** The decision taken last is written. */
  answer(runId: number): void
  /** The decision taken last cannot be written; returns whether there was one. */
  fail(runId: number, why?: PunctualError): boolean
  /** The workflow does not exist or has ended. */
  refuse(runId: number): void
}

const NOT_IN_TIME =
  'it could not be written down in time; look at the step, and decide again if it still waits'

interface Waiting {
  readonly request: StepRequest
  resolve(): void
  reject(error: unknown): void
  isTaken: boolean
}

export function createStepRequests(clock: Pick<Clock, 'sleep'>): StepRequests {
  const waiting = new Map<number, Waiting[]>()

  const first = (runId: number) => waiting.get(runId)?.[0]

  /** Removes it; returns whether it was still pending. */
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
    async add(runId, request, disconnected) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const one = { request, resolve, reject, isTaken: false }
      waiting.set(runId, [...(waiting.get(runId) ?? []), one])
      const isOver = new AbortController()
      const wake = disconnected ? AbortSignal.any([disconnected, isOver.signal]) : isOver.signal
      void clock.sleep(WAIT_MS, wake).then(() => {
        if (leave(runId, one)) reject(new PunctualError('store_unavailable', NOT_IN_TIME))
      })
      await promise.finally(() => isOver.abort('over'))
    },
    has: (runId) => waiting.has(runId),
    workflows: () => waiting.keys(),
    next(loaded) {
      const { runId } = loaded.record
      for (let one = first(runId); one; one = first(runId)) {
        try {
          const asked = one.request(loaded)
          applyMark(loaded, asked.mark)
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
    fail(runId, why) {
      const one = taken(runId)
      if (!one) return false
      leave(runId, one)
      one.reject(why ?? new PunctualError('internal', 'the decision cannot be stored'))
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
