/**
 * Decides how far the wall clock is trusted. The relevant clock is that of the store: `Date.now` with SQLite,
 * `clock_timestamp()` in PostgreSQL. A node reads it with every heartbeat and compares it with its own monotonic
 * clock. Pure functions: the caller keeps the state and reads the clocks.
 */

/** Maximum difference between the wall clock and the time predicted by the monotonic clock. */
export const CLOCK_TOLERANCE_MS = 5_000
/** After a jump nothing fires for this long; then the clock is accepted if it did not jump again. */
export const CLOCK_HOLD_MS = 60_000
/** After this long a clock that keeps jumping is ignored: schedules fire by the monotonic clock. */
export const MAX_CLOCK_HOLD_MS = 60_000
/** After a jump, nothing is deleted by age until the clock has agreed with the monotonic clock for this long. */
export const DELETION_WAIT_MS = 24 * 3_600_000
/** At start, a clock this far ahead of the newest time in the store is held as if it had jumped. */
export const FAR_AHEAD_MS = 24 * 3_600_000
/** At start, a clock that is further ahead than this must agree for that long before anything is deleted by age. */
const SHORT_ABSENCE_MS = 600_000

export type ClockDoubt = 'jumped_forward' | 'jumped_back' | 'behind_at_start' | 'ahead_at_start'

export interface ClockReading {
  /** The store's wall clock, read between the two monotonic times. */
  readonly wall: number
  readonly sentMono: number
  readonly heardMono: number
  /** Time since boot including suspends (CLOCK_BOOTTIME), if the platform provides it. */
  readonly boot: number | null
}

export interface ClockHold {
  readonly doubt: ClockDoubt
  /** How far the wall clock is ahead of (positive) or behind the expected time. */
  readonly byMs: number
  /** When the last jump was noticed, and the first of an uninterrupted series. */
  readonly sinceMono: number
  readonly firstMono: number
  /** Wall clock minus monotonic clock; the clock is steady while this does not change. */
  readonly offset: number
  /** At start only: a clock between this time and `FAR_AHEAD_MS` after it agrees with the store again. */
  readonly newestAt: number | null
  /** The clock was unsteady for too long, and the trusted time is used without it. */
  readonly isIgnored: boolean
}

export interface TrustedClock {
  /** Trusted time = monotonic clock + offset. */
  readonly offset: number
  /** The last reading, used to detect a suspend. */
  readonly heardMono: number
  readonly boot: number | null
  readonly hold: ClockHold | null
  /** Monotonic time for which the clock has agreed since it was last in doubt; null if it is not in doubt. */
  readonly agreedMs: number | null
}

export type ClockEvent =
  | { readonly kind: 'held'; readonly hold: ClockHold }
  /** `byMs`: how far trusted time moved, besides the elapsed time. */
  | { readonly kind: 'accepted'; readonly hold: ClockHold; readonly byMs: number }
  /** The clock returned to the expected time; trusted time never followed it, except for a jump at start. */
  | { readonly kind: 'returned'; readonly hold: ClockHold; readonly byMs: number }
  /** The clock was unsteady for too long; schedules fire by the monotonic clock. */
  | { readonly kind: 'ignored'; readonly hold: ClockHold; readonly byMs: number }
  | { readonly kind: 'suspended'; readonly byMs: number }
  /** The clock agreed for long enough after a doubt; deletion resumes. */
  | { readonly kind: 'proven' }

export interface ClockVerdict {
  readonly clock: TrustedClock
  readonly event: ClockEvent | null
}

export interface ClockFacts {
  /** The newest time recorded in the store; null if the store is empty. */
  readonly newestAt: number | null
  /** Recorded by an earlier process: how long the clock had agreed after a doubt; null without a doubt. */
  readonly agreedMs: number | null
}

/** The first reading of a process. It can only be compared with the times recorded in the store. */
export function startClock(reading: ClockReading, facts: ClockFacts): ClockVerdict {
  const { wall, heardMono, boot } = reading
  const { newestAt } = facts
  const offset = wall - heardMono
  const byMs = newestAt === null ? 0 : wall - newestAt
  const doubt = doubtAtStart(byMs)
  const clock = { offset, heardMono, boot, hold: null, agreedMs: facts.agreedMs }
  if (doubt === null)
    return { clock: { ...clock, agreedMs: agreedAtStart(facts, byMs) }, event: null }
  const since = { sinceMono: heardMono, firstMono: heardMono }
  const hold = { doubt, byMs, ...since, offset, newestAt, isIgnored: false }
  return { clock: { ...clock, hold }, event: { kind: 'held', hold } }
}

/** An absence of hours is normal, but a clock that is hours ahead looks the same. */
function agreedAtStart({ agreedMs }: ClockFacts, absentMs: number): number | null {
  if (agreedMs !== null || absentMs <= SHORT_ABSENCE_MS) return agreedMs
  return DELETION_WAIT_MS - absentMs
}

function doubtAtStart(byMs: number): ClockDoubt | null {
  if (byMs < -CLOCK_TOLERANCE_MS) return 'behind_at_start'
  return byMs > FAR_AHEAD_MS ? 'ahead_at_start' : null
}

/** Handles every later reading. */
export function readClock(clock: TrustedClock, reading: ClockReading): ClockVerdict {
  const { heardMono, boot } = reading
  const passedMs = Math.max(0, heardMono - clock.heardMono)
  const asleepMs = sleptMs(clock, reading)
  const agrees = agreesWith(clock.offset, reading)
  const wokeUp = !agrees && asleepMs > 0 && agreesWith(clock.offset + asleepMs, reading)
  const next = { ...clock, heardMono, boot }
  if ((agrees || wokeUp) && (!clock.hold || clock.hold.newestAt === null)) {
    const offset = within(clock.offset + (wokeUp ? asleepMs : 0), reading)
    return agreed({ ...next, offset }, { passedMs, asleepMs: wokeUp ? asleepMs : 0 })
  }
  return clock.hold ? stillHeld(next, clock.hold, reading) : newlyHeld(next, reading, null)
}

/** How long the machine was suspended since the last reading, if the platform can tell. */
function sleptMs(clock: TrustedClock, { heardMono, boot }: ClockReading): number {
  if (clock.boot === null || boot === null) return 0
  const ms = boot - clock.boot - (heardMono - clock.heardMono)
  return ms > CLOCK_TOLERANCE_MS ? ms : 0
}

function agreesWith(offset: number, { wall, sentMono, heardMono }: ClockReading): boolean {
  const [from, until] = [sentMono + offset, heardMono + offset]
  return wall >= from - CLOCK_TOLERANCE_MS && wall <= until + CLOCK_TOLERANCE_MS
}

/**
 * The offset of a clock that was read between two monotonic times. The previous offset is kept if it is possible: a
 * slow answer is less precise than a fast one.
 */
function within(offset: number, { wall, sentMono, heardMono }: ClockReading): number {
  return Math.min(Math.max(offset, wall - heardMono), wall + 1 - sentMono)
}

function agreed(
  clock: TrustedClock,
  { passedMs, asleepMs }: { passedMs: number; asleepMs: number },
): ClockVerdict {
  const { hold } = clock
  const agreedMs = clock.agreedMs === null || hold ? clock.agreedMs : clock.agreedMs + passedMs
  const isProven = agreedMs !== null && agreedMs >= DELETION_WAIT_MS
  const next = { ...clock, hold: null, agreedMs: isProven ? null : agreedMs }
  if (hold) return { clock: next, event: { kind: 'returned', hold, byMs: 0 } }
  if (asleepMs > 0) return { clock: next, event: { kind: 'suspended', byMs: asleepMs } }
  return { clock: next, event: isProven ? { kind: 'proven' } : null }
}

function newlyHeld(
  clock: TrustedClock,
  { wall, heardMono }: ClockReading,
  before: ClockHold | null,
): ClockVerdict {
  const byMs = Math.round(wall - heardMono - clock.offset)
  const hold: ClockHold = {
    doubt: byMs > 0 ? 'jumped_forward' : 'jumped_back',
    byMs,
    sinceMono: heardMono,
    firstMono: before?.firstMono ?? heardMono,
    offset: wall - heardMono,
    newestAt: null,
    isIgnored: before?.isIgnored ?? false,
  }
  return { clock: { ...clock, hold }, event: { kind: 'held', hold } }
}

function stillHeld(clock: TrustedClock, hold: ClockHold, reading: ClockReading): ClockVerdict {
  if (!agreesWith(hold.offset, reading)) return ignoredIfLong(jumpedAgain(clock, hold, reading))
  if (reading.heardMono - hold.sinceMono < CLOCK_HOLD_MS) {
    return ignoredIfLong({ clock, event: null })
  }
  const offset = within(hold.offset, reading)
  const movedMs = Math.round(offset - clock.offset)
  const isStart = hold.newestAt !== null
  // At start the distance to the newest time in the store counts, unless the clock was later in the meantime.
  const byMs = isStart && movedMs >= -CLOCK_TOLERANCE_MS ? hold.byMs : movedMs
  // A machine that runs for only some hours a week would never finish a count that starts over.
  const agreedMs = hold.doubt === 'ahead_at_start' ? (clock.agreedMs ?? 0) : 0
  const accepted = { ...clock, offset, hold: null, agreedMs }
  return { clock: accepted, event: { kind: 'accepted', hold, byMs } }
}

function jumpedAgain(clock: TrustedClock, hold: ClockHold, reading: ClockReading): ClockVerdict {
  const { newestAt, firstMono } = hold
  if (newestAt === null) return newlyHeld(clock, reading, hold)
  // At start nothing confirms the time before the jump, so the newest time in the store decides again.
  const anew = startClock(reading, { newestAt, agreedMs: clock.agreedMs })
  if (anew.clock.hold === null) {
    const byMs = Math.round(anew.clock.offset - clock.offset)
    return { clock: anew.clock, event: { kind: 'returned', hold, byMs } }
  }
  const held = { ...anew.clock.hold, firstMono }
  return { clock: { ...clock, hold: held }, event: { kind: 'held', hold: held } }
}

/** An unsteady clock must not stop schedules for more than a minute: time continues without it. */
function ignoredIfLong({ clock, event }: ClockVerdict): ClockVerdict {
  const { hold, heardMono } = clock
  if (!hold || hold.isIgnored || heardMono - hold.firstMono < MAX_CLOCK_HOLD_MS) {
    return { clock, event }
  }
  // For a clock that was in doubt from the start, the newest time in the store is the only reliable time.
  const offset = hold.newestAt === null ? clock.offset : hold.newestAt - hold.firstMono
  const ahead = Math.round(hold.offset - offset)
  const doubt = ahead > 0 ? 'jumped_forward' : 'jumped_back'
  const ignored: ClockHold = { ...hold, doubt, byMs: ahead, newestAt: null, isIgnored: true }
  const byMs = Math.round(offset - clock.offset)
  return {
    clock: { ...clock, offset, hold: ignored },
    event: { kind: 'ignored', hold: ignored, byMs },
  }
}

/** Whether due times of schedules and timers may be acted on. */
export function canFire({ hold }: TrustedClock): boolean {
  return hold === null || hold.isIgnored
}

/** Whether data may be deleted by age. */
export function canDelete({ hold, agreedMs }: TrustedClock): boolean {
  return hold === null && agreedMs === null
}

/**
 * The time that a store's statement uses: its own clock, unless that differs from the time the node expects. Null:
 * the node passed no expected time.
 */
export function statementTime(wall: number, expected: number | null): number {
  if (expected === null) return wall
  return Math.abs(wall - expected) <= CLOCK_TOLERANCE_MS ? wall : expected
}
