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

interface QuarantineOptions {
  readonly clock: Clock
  readonly reporter: WorkerReporter
  readonly signal: AbortSignal
  /** The number of slots to offer has changed. */
  onChange(): void
}

export function createQuarantine(options: QuarantineOptions): Quarantine {
  return new StartQuarantine(options)
}

class StartQuarantine implements Quarantine {
  reason: string | null = null
  readonly #options: QuarantineOptions
  readonly #failedJobs = new Set<string>()
  #failures = 0
  #state: 'healthy' | 'paused' | 'probing' = 'healthy'
  #pauseMs = FIRST_PAUSE_MS
  #heaviest = 1
  /** The run that probes whether the worker can start something again. */
  #probe: string | null = null

  constructor(options: QuarantineOptions) {
    this.#options = options
  }

  began({ run, weight }: Assignment): void {
    this.#heaviest = Math.max(this.#heaviest, weight)
    if (this.#state !== 'probing') return
    this.#probe = run
    void this.#watch(run)
  }

  ended({ run, job }: Assignment, { outcome, cause, message = '' }: FinishedAttempt): void {
    if (outcome === 'cancelled' || outcome === 'given_back') {
      if (this.#probe === run) this.#probe = null
      return
    }
    if (cause !== 'start_error') return this.#recover()
    this.#failures += 1
    this.#failedJobs.add(job)
    const isUnhealthy = this.#failures >= IN_A_ROW && this.#failedJobs.size >= DISTINCT_JOBS
    if (this.#state === 'probing' || (this.#state === 'healthy' && isUnhealthy)) {
      void this.#pause(message)
    }
  }

  allow(free: number): number {
    if (this.#state === 'healthy') return free
    const mayProbe = this.#state === 'probing' && this.#probe === null
    return mayProbe ? Math.min(free, this.#heaviest) : 0
  }

  async #pause(message: string): Promise<void> {
    const { clock, reporter, signal, onChange } = this.#options
    const pauseMs = this.#pauseMs
    this.#state = 'paused'
    this.#probe = null
    this.reason = `${this.#failures} attempts in a row could not be started; the last one: ${message}`
    reporter.error(new Error(`accepts no runs for ${formatDuration(pauseMs)}: ${this.reason}`))
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)
    onChange()
    await clock.sleep(pauseMs, signal)
    if (signal.aborted || !this.#isPaused()) return
    this.#state = 'probing'
    onChange()
  }

  #isPaused(): boolean {
    return this.#state === 'paused'
  }

  /** Ends the quarantine if the probe still runs after some time. */
  async #watch(run: string): Promise<void> {
    const { clock, signal } = this.#options
    await clock.sleep(STARTED_MS, signal)
    if (this.#probe === run && !signal.aborted) this.#recover()
  }

  #recover(): void {
    this.#failures = 0
    this.#failedJobs.clear()
    this.#pauseMs = FIRST_PAUSE_MS
    if (this.#state === 'healthy') return
    this.#state = 'healthy'
    this.#probe = null
    this.reason = null
    this.#options.reporter.log('accepts runs again')
    this.#options.onChange()
  }
}
