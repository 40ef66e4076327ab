import type { Clock } from '../../core/clock.ts'
import { formatDuration } from '../../core/text/duration.ts'
import type { Assignment, FinishedAttempt } from '../../core/wire/protocol.ts'
import type { WorkerReporter } from '../events/worker-reporter.ts'

/** Start failures in a row, and distinct jobs among them, that quarantine a worker. */
const IN_A_ROW = 5
const DISTINCT_JOBS = 2
const FIRST_PAUSE_MS = 5_000
const LONGEST_PAUSE_MS = 300_000
/** An attempt that runs this long counts as started. */
const STARTED_MS = 5_000

/**
 * A circuit breaker for a worker that can start nothing (a full disk, a missing shell): it would
 * fail runs faster than healthy workers finish them. It stops accepting runs, for longer each time,
 * and then probes with one run.
 *
 * One broken job looks the same while no other job runs, so failures of two jobs are required, and
 * any attempt that starts resets the count.
 */
export interface Quarantine {
  began(assignment: Assignment): void
  ended(assignment: Assignment, done: FinishedAttempt): void
  /**
   * How many of the free slots may be offered: none during a pause, enough for one run while
   * probing.
   */
  allow(free: number): number
  /** Why the worker accepts nothing; null if it does. */
  readonly reason: string | null
}

export function createQuarantine(options: {
  readonly clock: Clock
  readonly reporter: WorkerReporter
  readonly signal: AbortSignal
  /** The number of slots to offer has changed. */
  onChange(): void
}): Quarantine {
  const { clock, reporter, signal, onChange } = options
  const failedJobs = new Set<string>()
  let failures = 0
  let state: 'well' | 'resting' | 'trying' = 'well'
  let pauseMs = FIRST_PAUSE_MS
  let heaviest = 1
  let probe: string | null = null
  let reason: string | null = null

  const pause = async (message: string) => {
    state = 'resting'
    probe = null
    reason = `${failures} attempts in a row could not be started; the last one: ${message}`
    reporter.error(new Error(`accepts no runs for ${formatDuration(pauseMs)}: ${reason}`))
    const currentPauseMs = pauseMs
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)
    onChange()
    await clock.sleep(currentPauseMs, signal)
    if (signal.aborted || state !== 'resting') return
    state = 'trying'
    onChange()
  }

  const recover = () => {
    failures = 0
    failedJobs.clear()
    pauseMs = FIRST_PAUSE_MS
    if (state === 'well') return
    state = 'well'
    probe = null
    reason = null
    reporter.log('accepts runs again')
    onChange()
  }

  const watch = async (run: string) => {
    await clock.sleep(STARTED_MS, signal)
    if (probe === run && !signal.aborted) recover()
  }

  return {
    began({ run, weight }) {
      heaviest = Math.max(heaviest, weight)
      if (state !== 'trying') return
      probe = run
      void watch(run)
    },

    ended({ run, job }, { outcome, cause, message = '' }) {
      if (outcome === 'cancelled' || outcome === 'given_back') {
        if (probe === run) probe = null
        return
      }
      if (cause !== 'start_error') return recover()
      failures += 1
      failedJobs.add(job)
      const isUnhealthy = failures >= IN_A_ROW && failedJobs.size >= DISTINCT_JOBS
      if (state === 'trying' || (state === 'well' && isUnhealthy)) void pause(message)
    },

    allow(free) {
      if (state === 'well') return free
      return state === 'trying' && probe === null ? Math.min(free, heaviest) : 0
    },

    get reason() {
      return reason
    },
  }
}
