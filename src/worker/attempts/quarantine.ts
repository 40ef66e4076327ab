import type { Clock } from '../../core/clock.ts'
import { formatDuration } from '../../core/text/duration.ts'
import type { Assignment, Done } from '../../core/wire/protocol.ts'
import type { Telling } from '../events/worker-reporter.ts'

/** So many attempts in a row that could not be started, of so many different jobs. */
const IN_A_ROW = 5
const JOBS = 2
const FIRST_REST_MS = 5_000
const LONGEST_REST_MS = 300_000
/** Who has been at work for this long was started. */
const STARTED_MS = 5_000

/**
 * A worker that can start nothing (a full disk, a missing shell) fails runs faster than healthy
 * workers finish them. So it stops taking any, for longer each time, and tries with one.
 *
 * One broken job looks the same as long as nothing else comes along; therefore it takes two jobs to
 * convict a worker, and anything that starts acquits it.
 */
export interface Quarantine {
  began(assignment: Assignment): void
  ended(assignment: Assignment, done: Done): void
  /** What of the free slots may be offered: nothing while it rests, enough for one run to try. */
  allow(free: number): number
  /** Why it takes nothing; null if it does. */
  readonly reason: string | null
}

export function createQuarantine(options: {
  readonly clock: Clock
  readonly telling: Telling
  readonly signal: AbortSignal
  /** The room to offer has changed. */
  onChange(): void
}): Quarantine {
  const { clock, telling, signal, onChange } = options
  const failedJobs = new Set<string>()
  let failures = 0
  let state: 'well' | 'resting' | 'trying' = 'well'
  let restMs = FIRST_REST_MS
  let heaviest = 1
  let probe: string | null = null
  let reason: string | null = null

  const rest = async (message: string) => {
    state = 'resting'
    probe = null
    reason = `${failures} attempts in a row could not be started; the last one: ${message}`
    telling.error(new Error(`takes nothing for ${formatDuration(restMs)}: ${reason}`))
    const napMs = restMs
    restMs = Math.min(LONGEST_REST_MS, restMs * 2)
    onChange()
    await clock.sleep(napMs, signal)
    if (signal.aborted || state !== 'resting') return
    state = 'trying'
    onChange()
  }

  const recover = () => {
    failures = 0
    failedJobs.clear()
    restMs = FIRST_REST_MS
    if (state === 'well') return
    state = 'well'
    probe = null
    reason = null
    telling.log('takes work again')
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
      const isConvicted = failures >= IN_A_ROW && failedJobs.size >= JOBS
      if (state === 'trying' || (state === 'well' && isConvicted)) void rest(message)
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
