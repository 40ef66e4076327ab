import type { Clock } from '../../core/clock.ts'
import { LIMITS } from '../../core/limits.ts'
import type { Assignment, Done, Held } from '../../core/wire/protocol.ts'
import type { StopCause } from './handler.ts'
import { givenBack } from './outcome.ts'
import type { Quarantine } from './quarantine.ts'
import type { AttemptHooks, Begin, UnderWay } from './running-attempt.ts'

/** One report stays well below the size of a request body, whatever escaping does to its texts. */
const BATCH_RUNS = 2_000
const BATCH_BYTES = LIMITS.bodyBytes * 0.75

/**
 * The attempts this worker answers for: under way, or finished and not yet acknowledged. Whatever
 * leaves the book is never reported, even if its function still runs.
 */
export interface Book {
  /** Starts an attempt, or gives it back when there is no room for it. */
  take(assignment: Assignment): void
  /** Slots not taken by a function that still runs; none once the book is closing. */
  free(): number
  held(): Held[]
  hasFinished(): boolean
  /** Finished attempts for one message, oldest first. */
  nextReport(): { done: Done[]; unreported: number }
  /** The server has ruled on a finished attempt, one way or the other. */
  acknowledge(held: Held): void
  /** The server will never take a report: another stands in for it. */
  replace(refused: Done, standIn: Done): void
  /** Another may own it now: stops it and forgets it, unless it has finished. */
  lose(held: Held): void
  /**
   * Stops and drops all that is under way, because the lease ran out. What has finished stays: its
   * fence decides whether it still counts.
   */
  forsake(): void
  /** What was forsaken and the server has not been told of yet. */
  forsaken(): readonly Held[]
  /**
   * What was begun here and dropped because the server said it was lost. Should it still be ours in
   * the store, whoever we register with next must not believe that it never began.
   */
  disowned(): readonly Held[]
  /** The server knows of all that was forsaken and disowned so far. */
  confess(): void
  cancel(run: string): void
  /** Takes nothing more from here on. */
  close(): void
  stopRunning(why: StopCause): void
  isEmpty(): boolean
  counts(): BookCounts
}

export interface BookCounts {
  readonly running: number
  readonly unacknowledged: number
  readonly taken: number
  readonly lost: number
}

interface Entry extends Held {
  attempt: UnderWay | undefined
  done: Done | undefined
}

export interface BookOptions {
  readonly clock: Clock
  readonly slots: number
  readonly begin: Begin
  /** Whether this worker is fit to take anything. */
  readonly quarantine?: Quarantine | undefined
  /** Something changed that a message to the server could carry. */
  onChange(): void
  /** A handler of this job was told to stop and did not. */
  onIgnored(assignment: Assignment): void
  /** Attempts were lost that nobody but us can report: they are among the forsaken. */
  onForsaken(): void
}

export function createBook(options: BookOptions): Book {
  const { clock, slots, begin, quarantine, onChange, onIgnored, onForsaken } = options
  const entries = new Map<string, Entry>()
  const finished = new Map<string, Done>()
  let forsaken: Held[] = []
  let disowned: Held[] = []
  let occupied = 0
  let isClosing = false
  let taken = 0
  let lost = 0

  const remove = (entry: Entry) => {
    entries.delete(entry.run)
    finished.delete(entry.run)
    onChange()
  }
  const drop = (entry: Entry) => {
    lost += 1
    remove(entry)
    entry.attempt?.stop('lease_lost')
  }
  const disown = ({ run, fence }: Entry) => {
    disowned.push({ run, fence })
    // The oldest were taken for lost by the server long ago.
    if (disowned.length > slots) disowned.shift()
  }
  const end = (entry: Entry, done: Done | undefined) => {
    if (!done) {
      disown(entry)
      return remove(entry)
    }
    entry.done = done
    finished.set(entry.run, done)
    onChange()
  }
  const find = ({ run, fence }: Held) => {
    const entry = entries.get(run)
    return entry?.fence === fence ? entry : undefined
  }
  const running = () => [...entries.values()].filter(({ done }) => !done)
  const free = () => {
    const left = isClosing ? 0 : Math.max(0, slots - occupied)
    return quarantine ? quarantine.allow(left) : left
  }

  const hooks: AttemptHooks = {
    clock,
    onEnd(attempt, done) {
      const entry = entries.get(attempt.assignment.run)
      if (done) quarantine?.ended(attempt.assignment, done)
      if (entry?.attempt === attempt) end(entry, done)
    },
    onReturn({ assignment }) {
      occupied -= assignment.weight
      onChange()
    },
    onIgnored: ({ assignment }) => onIgnored(assignment),
    onLost(attempt) {
      const entry = entries.get(attempt.assignment.run)
      if (entry?.attempt !== attempt) return
      forsaken.push({ run: entry.run, fence: entry.fence })
      lost += 1
      remove(entry)
      onForsaken()
    },
  }

  const start = (entry: Entry, assignment: Assignment) => {
    occupied += assignment.weight
    quarantine?.began(assignment)
    entry.attempt = begin(assignment, hooks)
    entry.attempt.start()
  }

  return {
    take(assignment) {
      const { run, fence } = assignment
      const known = entries.get(run)
      if (known) {
        if (known.fence >= fence) return
        // Fences of a run only grow: that we get it again proves the earlier attempt is over.
        drop(known)
      }
      const entry: Entry = { run, fence, attempt: undefined, done: undefined }
      entries.set(run, entry)
      if (assignment.weight > free()) return end(entry, givenBack(entry))
      taken += 1
      start(entry, assignment)
    },

    free,
    held: () => Array.from(entries.values(), ({ run, fence }) => ({ run, fence })),
    hasFinished: () => finished.size > 0,

    nextReport() {
      const done: Done[] = []
      let bytes = 0
      for (const item of finished.values()) {
        bytes += weigh(item)
        if (done.length > 0 && (bytes > BATCH_BYTES || done.length === BATCH_RUNS)) break
        done.push(item)
      }
      return { done, unreported: finished.size - done.length }
    },

    acknowledge(held) {
      const entry = find(held)
      if (entry?.done) remove(entry)
    },

    replace(refused, standIn) {
      const entry = find(refused)
      if (entry?.done === refused) end(entry, standIn)
    },

    lose(held) {
      const entry = find(held)
      // A report under way may have been taken in just now, with its answer still to come: for what
      // has finished, only the verdict counts.
      if (!entry || entry.done) return
      disown(entry)
      drop(entry)
    },

    forsake() {
      for (const entry of running()) {
        forsaken.push({ run: entry.run, fence: entry.fence })
        drop(entry)
      }
    },

    forsaken: () => forsaken,
    disowned: () => disowned,
    confess() {
      forsaken = []
      disowned = []
    },

    cancel(run) {
      entries.get(run)?.attempt?.stop('cancelled')
    },

    close() {
      isClosing = true
      onChange()
    },

    stopRunning(why) {
      for (const entry of running()) entry.attempt?.stop(why)
    },

    isEmpty: () => entries.size === 0,
    counts: () => ({
      running: entries.size - finished.size,
      unacknowledged: finished.size,
      taken,
      lost,
    }),
  }
}

/** An upper bound of a report's size on the wire: results are JSON inside JSON, messages are free text. */
function weigh({ result = '', message = '', process }: Done): number {
  const entries = process?.output?.last ?? []
  const output = entries.reduce((sum, [, , text]) => sum + 32 + 6 * text.length, 0)
  return 256 + 2 * Buffer.byteLength(result) + 6 * message.length + output
}
