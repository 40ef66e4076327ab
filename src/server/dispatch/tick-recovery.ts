import type { Clock, Random } from '../../core/clock.ts'
import { PunctualError } from '../../core/errors.ts'
import { StoreError, type Store, type TickResult } from '../../store/port.ts'
import { storeProblem } from '../health/store-problem.ts'
import type { SessionIndex } from '../sessions/session-index.ts'
import type { NodeSignals } from '../signals/signals.ts'
import { releasePromises } from './apply-result.ts'
import type { TickWork } from './compose-tick.ts'
import type { FairTurns } from './fair-turns.ts'
import { isolate, UnfinishedWork } from './isolate.ts'
import type { LaneIndex } from './lanes/lane-index.ts'
import { answerEntry, type PendingEntry } from './pending.ts'
import { allEntries, isAnswered, type TickEntries, type TickInboxes } from './tick-inboxes.ts'

const BACK_OFF_MS = [20, 50, 100, 250, 500, 1_000]

export interface TickRecoveryDeps {
  readonly store: Pick<Store, 'tick'>
  readonly clock: Pick<Clock, 'mono' | 'sleep'>
  readonly random: Random
  readonly sessionIndex: SessionIndex
  readonly laneIndex: LaneIndex
  readonly turns: FairTurns
  readonly inboxes: TickInboxes
  /** Applies the result of a part of the work. */
  finish(work: TickWork, result: TickResult): void
  readonly signals: Pick<NodeSignals, 'commitUnknown'>
  onError(error: unknown): void
}

/** Decides what becomes of the work of a failed tick, and when the next tick may run. */
export interface TickRecovery {
  /** The pause after a failed tick. */
  readonly isResting: boolean
  /**
   * Why the last tick failed, during the pause after it: the next one would likely fail in the same
   * way.
   */
  readonly problem: PunctualError | null
  /** Resolves when the next tick may run. */
  recover(work: TickWork, error: unknown): Promise<void>
  /** A tick is durable: the next failure is the first one again. */
  succeeded(): void
}

export function createTickRecovery(deps: TickRecoveryDeps): TickRecovery {
  const { store, clock, inboxes } = deps
  let failures = 0
  let isResting = false
  let problem: PunctualError | null = null

  const retryLater = (work: TickWork, isUnknown: boolean) => {
    if (isUnknown) deps.signals.commitUnknown(work.batch)
    const mono = clock.mono()
    const gaveUp = new PunctualError('store_unavailable', 'the database did not answer in time')
    for (const entry of allEntries(work)) {
      if (isAnswered(entry)) continue
      entry.tried ||= isUnknown
      if (mono >= entry.deadlineMono) answerEntry(entry, gaveUp)
    }
    inboxes.restore(work)
  }

  const isolateOrRetry = async (work: TickWork): Promise<void> => {
    try {
      await isolate(work, {
        run: (piece) => store.tick(piece.batch),
        apply: deps.finish,
        reject(piece, error) {
          deps.onError(error)
          const verdict = new PunctualError(
            'invalid_request',
            `the store refused it: ${error.message}`,
          )
          for (const entry of allEntries(piece)) answerEntry(entry, verdict)
        },
      })
    } catch (error) {
      if (!(error instanceof UnfinishedWork)) throw error
      deps.onError(error.cause)
      // Only the failed piece is known to be unfinished, and later pieces never ran. Repeating a
      // piece that did run is harmless: ids and fences make every item happen once.
      retryLater(work, true)
    }
  }

  /** Items that arrived while the tick ran. */
  const refuseWaiting = (why: PunctualError) => {
    const waiting = inboxes.takeAll()
    refuse(waiting, why)
    inboxes.restore(waiting)
  }

  return {
    get isResting() {
      return isResting
    },
    get problem() {
      return problem
    },
    succeeded() {
      failures = 0
    },
    async recover(work, error) {
      releasePromises(work, deps)
      for (const entry of work.submits) entry.item = { ...entry.item, reservation: null }
      // Claims carry no user data, so they cannot be the reason for a refusal: that goes to the
      // log.
      const hasItems = work.submits.length + work.ends.length + work.cancels.length > 0
      if (hasItems && error instanceof StoreError && error.outcome === 'refused') {
        await isolateOrRetry(work)
        return
      }
      deps.onError(error)
      problem = storeProblem(error)
      if (problem) refuse(work, problem)
      retryLater(work, !(error instanceof StoreError) || error.outcome === 'unknown')
      isResting = true
      if (problem) refuseWaiting(problem)
      const pause = BACK_OFF_MS[Math.min(failures, BACK_OFF_MS.length - 1)] ?? 1_000
      failures += 1
      await clock.sleep(pause * (0.75 + deps.random() / 2))
      isResting = false
      problem = null
    },
  }
}

/**
 * Waiting would not help, so callers learn the reason at once. Commands that no client repeats
 * still wait.
 */
function refuse(entries: TickEntries, why: PunctualError): void {
  for (const entry of allEntries(entries)) {
    // An item that may be stored is not refused: its caller would take it for lost.
    if (!isAnswered(entry) && !entry.tried && isPatient(entry)) answerEntry(entry, why)
  }
}

function isPatient({ deadlineMono }: PendingEntry<unknown, unknown>): boolean {
  return deadlineMono !== Number.POSITIVE_INFINITY
}
