import type { Clock } from '../../core/clock.ts'
import { LIMITS } from '../../core/limits.ts'
import type { Assignment, FinishedAttempt, LeasedAttempt } from '../../core/wire/protocol.ts'
import type { StopCause } from './handler.ts'
import { givenBackReport } from './outcome.ts'
import type { Quarantine } from './quarantine.ts'
import type { AttemptFactory, AttemptHooks, RunningAttempt } from './running-attempt.ts'

/** Keeps one report well below the size limit of a request body, even after JSON escaping. */
const BATCH_RUNS = 2_000
const BATCH_BYTES = LIMITS.bodyBytes * 0.75

/**
 * The attempts this worker is responsible for: running, or finished and not yet acknowledged. An
 * attempt that has left the table is never reported, even if its function still runs.
 */
export interface AttemptTable {
  /** Starts an attempt, or gives it back when there are not enough free slots. */
  accept(assignment: Assignment): void
  /** Slots that no running function occupies; 0 once the table is closing. */
  free(): number
  held(): LeasedAttempt[]
  hasFinished(): boolean
  /** The finished attempts for the next message, oldest first. */
  nextReport(): { done: FinishedAttempt[]; unreported: number }
  /** Removes a finished attempt once the server has accepted or rejected its report. */
  acknowledge(held: LeasedAttempt): void
  /** Replaces a report that the server will never accept. */
  replace(refused: FinishedAttempt, standIn: FinishedAttempt): void
  /** Another worker may own the run now: stops and removes the attempt, unless it has finished. */
  markLost(held: LeasedAttempt): void
  /**
   * Stops and removes all running attempts because the lease expired. Finished attempts stay: their
   * fence decides whether they still count.
   */
  abandonRunning(): void
  /** Attempts that were abandoned and not yet reported to the server. */
  abandoned(): readonly LeasedAttempt[]
  /**
   * Attempts that were started here and dropped because the server called them lost. If the store
   * still assigns them to this worker, the next node must count them as started.
   */
  dropped(): readonly LeasedAttempt[]
  /** Forgets the abandoned and dropped attempts once they are reported to the server. */
  clearReportedLosses(): void
  cancel(run: string): void
  /** Accepts no more assignments. */
  close(): void
  stopRunning(why: StopCause): void
  isEmpty(): boolean
  counts(): AttemptCounts
}

export interface AttemptCounts {
  readonly running: number
  readonly unacknowledged: number
  readonly taken: number
  readonly lost: number
}

interface Entry extends LeasedAttempt {
  attempt: RunningAttempt | undefined
  done: FinishedAttempt | undefined
}

export interface AttemptTableOptions {
  readonly clock: Clock
  readonly slots: number
  readonly executors: AttemptFactory
  /** Whether this worker may accept work at all. */
  readonly quarantine?: Quarantine | undefined
  /** The content of the next message to the server may have changed. */
  onChange(): void
  /** The handler of this job was asked to stop and did not. */
  onIgnored(assignment: Assignment): void
  /** Attempts were lost that only this worker can report: they are among the abandoned ones. */
  onAbandoned(): void
}

export function createAttemptTable(options: AttemptTableOptions): AttemptTable {
  return new Attempts(options)
}

class Attempts implements AttemptTable, AttemptHooks {
  readonly clock: Clock
  readonly #options: AttemptTableOptions
  readonly #entries = new Map<string, Entry>()
  readonly #finished = new Map<string, FinishedAttempt>()
  #abandoned: LeasedAttempt[] = []
  #dropped: LeasedAttempt[] = []
  #occupied = 0
  #isClosing = false
  #taken = 0
  #lost = 0

  constructor(options: AttemptTableOptions) {
    this.#options = options
    this.clock = options.clock
  }

  accept(assignment: Assignment): void {
    const { run, fence } = assignment
    const known = this.#entries.get(run)
    if (known) {
      if (known.fence >= fence) return
      // The fence of a run only grows, so a new assignment proves that the earlier attempt is over.
      this.#drop(known)
    }
    const entry: Entry = { run, fence, attempt: undefined, done: undefined }
    this.#entries.set(run, entry)
    if (assignment.weight > this.free()) return this.#end(entry, givenBackReport(entry))
    this.#taken += 1
    this.#start(entry, assignment)
  }

  free(): number {
    const { slots, quarantine } = this.#options
    const left = this.#isClosing ? 0 : Math.max(0, slots - this.#occupied)
    return quarantine ? quarantine.allow(left) : left
  }

  held(): LeasedAttempt[] {
    return Array.from(this.#entries.values(), ({ run, fence }) => ({ run, fence }))
  }

  hasFinished(): boolean {
    return this.#finished.size > 0
  }

  nextReport(): { done: FinishedAttempt[]; unreported: number } {
    const done: FinishedAttempt[] = []
    let bytes = 0
    for (const item of this.#finished.values()) {
      bytes += weigh(item)
      if (done.length > 0 && (bytes > BATCH_BYTES || done.length === BATCH_RUNS)) break
      done.push(item)
    }
    return { done, unreported: this.#finished.size - done.length }
  }

  acknowledge(held: LeasedAttempt): void {
    const entry = this.#find(held)
    if (entry?.done) this.#remove(entry)
  }

  replace(refused: FinishedAttempt, standIn: FinishedAttempt): void {
    const entry = this.#find(refused)
    if (entry?.done === refused) this.#end(entry, standIn)
  }

  markLost(held: LeasedAttempt): void {
    const entry = this.#find(held)
    // The server may have accepted the report just now, with its answer still on the way: for a
    // finished attempt, only the verdict counts.
    if (!entry || entry.done) return
    this.#recordDropped(entry)
    this.#drop(entry)
  }

  abandonRunning(): void {
    for (const entry of this.#running()) {
      this.#abandoned.push({ run: entry.run, fence: entry.fence })
      this.#drop(entry)
    }
  }

  abandoned(): readonly LeasedAttempt[] {
    return this.#abandoned
  }

  dropped(): readonly LeasedAttempt[] {
    return this.#dropped
  }

  clearReportedLosses(): void {
    this.#abandoned = []
    this.#dropped = []
  }

  cancel(run: string): void {
    this.#entries.get(run)?.attempt?.stop('cancelled')
  }

  close(): void {
    this.#isClosing = true
    this.#options.onChange()
  }

  stopRunning(why: StopCause): void {
    for (const entry of this.#running()) entry.attempt?.stop(why)
  }

  isEmpty(): boolean {
    return this.#entries.size === 0
  }

  counts(): AttemptCounts {
    return {
      running: this.#entries.size - this.#finished.size,
      unacknowledged: this.#finished.size,
      taken: this.#taken,
      lost: this.#lost,
    }
  }

  #start(entry: Entry, assignment: Assignment): void {
    this.#occupied += assignment.weight
    this.#options.quarantine?.began(assignment)
    entry.attempt = this.#options.executors.begin(assignment, this)
    entry.attempt.start()
  }

  onEnd(attempt: RunningAttempt, done: FinishedAttempt | undefined): void {
    const entry = this.#entries.get(attempt.assignment.run)
    if (done) this.#options.quarantine?.ended(attempt.assignment, done)
    if (entry?.attempt === attempt) this.#end(entry, done)
  }

  onReturn({ assignment }: RunningAttempt): void {
    this.#occupied -= assignment.weight
    this.#options.onChange()
  }

  onIgnored({ assignment }: RunningAttempt): void {
    this.#options.onIgnored(assignment)
  }

  onLost(attempt: RunningAttempt): void {
    const entry = this.#entries.get(attempt.assignment.run)
    if (entry?.attempt !== attempt) return
    this.#abandoned.push({ run: entry.run, fence: entry.fence })
    this.#lost += 1
    this.#remove(entry)
    this.#options.onAbandoned()
  }

  #end(entry: Entry, done: FinishedAttempt | undefined): void {
    if (!done) {
      this.#recordDropped(entry)
      return this.#remove(entry)
    }
    entry.done = done
    this.#finished.set(entry.run, done)
    this.#options.onChange()
  }

  #drop(entry: Entry): void {
    this.#lost += 1
    this.#remove(entry)
    entry.attempt?.stop('lease_lost')
  }

  #recordDropped({ run, fence }: Entry): void {
    this.#dropped.push({ run, fence })
    // The server has already taken the oldest ones for lost.
    if (this.#dropped.length > this.#options.slots) this.#dropped.shift()
  }

  #remove(entry: Entry): void {
    this.#entries.delete(entry.run)
    this.#finished.delete(entry.run)
    this.#options.onChange()
  }

  #find({ run, fence }: LeasedAttempt): Entry | undefined {
    const entry = this.#entries.get(run)
    return entry?.fence === fence ? entry : undefined
  }

  #running(): Entry[] {
    return [...this.#entries.values()].filter(({ done }) => !done)
  }
}

/**
 * An upper bound of a report's size on the wire: results are JSON inside JSON, messages are free
 * text.
 */
function weigh({ result = '', message = '', process }: FinishedAttempt): number {
  const entries = process?.output?.last ?? []
  const output = entries.reduce((sum, [, , text]) => sum + 32 + 6 * text.length, 0)
  return 256 + 2 * Buffer.byteLength(result) + 6 * message.length + output
}
