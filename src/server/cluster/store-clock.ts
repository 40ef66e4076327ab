import type { Clock } from '../../core/clock.ts'
import {
  CLOCK_HOLD_MS,
  type ClockEvent,
  type ClockFacts,
  type ClockHold,
  DELETION_WAIT_MS,
  canDelete,
  canFire,
  readClock,
  startClock,
  type TrustedClock,
} from '../../core/trusted-clock.ts'

/**
 * The store's wall clock as far as this node trusts it. No other code of the node decides by a wall
 * clock.
 */
export interface StoreClock {
  now(): number
  /** A reading of the wall clock, requested after `sentMono`. */
  observe(wall: number, sentMono: number): void
  /** The first reading of this process. */
  start(wall: number, sentMono: number, facts: ClockFacts): void
  /** Whether due times may be acted upon. */
  mayFire(): boolean
  /** Whether the wall clock is known to differ from the trusted time. */
  isClockOff(): boolean
  /** Whether data may be deleted because of its age. */
  mayDelete(): boolean
  status(): ClockStatus
  /** What to persist about the clock; null while nothing confirms it. */
  toNote(): { seenAt: number; agreedMs: number | null } | null
  readonly isStarted: boolean
}

export interface ClockStatus {
  readonly hold: (ClockHold & { readonly heldMs: number }) | null
  /**
   * Monotonic time for which the clock has agreed since it was in doubt; null: it is not in doubt.
   */
  readonly agreedMs: number | null
}

export function createStoreClock(deps: {
  readonly clock: Clock
  onEvent(event: ClockEvent): void
}): StoreClock {
  const { clock, onEvent } = deps
  let trusted: TrustedClock | null = null
  let offset = 0

  const boot = () => clock.boot?.() ?? null
  const take = ({ clock: next, event }: { clock: TrustedClock; event: ClockEvent | null }) => {
    trusted = next
    offset = next.offset
    if (event) onEvent(event)
  }

  return {
    get isStarted() {
      return trusted !== null
    },
    now: () => Math.round(clock.mono() + offset),
    start(wall, sentMono, facts) {
      take(startClock({ wall, sentMono, heardMono: clock.mono(), boot: boot() }, facts))
    },
    observe(wall, sentMono) {
      if (!trusted) return
      take(readClock(trusted, { wall, sentMono, heardMono: clock.mono(), boot: boot() }))
    },
    mayFire: () => trusted === null || canFire(trusted),
    isClockOff: () => trusted !== null && trusted.hold !== null,
    mayDelete: () => trusted !== null && canDelete(trusted),
    status() {
      const hold = trusted?.hold ?? null
      const held = hold && { ...hold, heldMs: Math.round(clock.mono() - hold.sinceMono) }
      return { hold: held, agreedMs: trusted?.agreedMs ?? null }
    },
    toNote() {
      // After a jump the monotonic clock carries the time on; a start during the hold compares its
      // clock with that.
      if (!trusted || (trusted.hold && trusted.hold.newestAt !== null)) return null
      return { seenAt: Math.round(clock.mono() + offset), agreedMs: trusted.agreedMs }
    },
  }
}

const EVENT_TEXTS = {
  jumped_forward: 'jumped forward',
  jumped_back: 'jumped back',
  behind_at_start: 'is behind the newest time in the database',
  ahead_at_start: 'is far ahead of the newest time in the database',
} as const

const VOIDED_TEXT = '; times that have fired and have not come yet are void and fire again'

/** A clock event as a log line. */
export function describeClockEvent(event: ClockEvent): string {
  switch (event.kind) {
    case 'held':
      return (
        `clock: the wall clock ${EVENT_TEXTS[event.hold.doubt]} by ${seconds(event.hold.byMs)}; ` +
        (event.hold.isIgnored
          ? 'schedules and timers go by the monotonic clock, deletion by age waits'
          : 'schedules and timers are held for up to a minute, deletion by age waits')
      )
    case 'ignored':
      return (
        'clock: the wall clock keeps jumping and is ignored until it is steady for a minute; ' +
        'schedules and timers go by the monotonic clock, deletion by age waits'
      )
    case 'accepted':
      return (
        `clock: the wall clock has been steady for a minute and is accepted (${seconds(event.byMs)}); ` +
        `schedules go on, deletion by age waits for 24 hours of agreement${event.byMs < 0 ? VOIDED_TEXT : ''}`
      )
    case 'returned':
      return 'clock: the wall clock is back where it was expected; schedules and timers go on'
    case 'suspended':
      return `clock: the machine was suspended for ${seconds(event.byMs)}`
    case 'proven':
      return 'clock: the wall clock has agreed for 24 hours; deletion by age goes on'
  }
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(0)} s`
}

/** What users should know about a clock in doubt. */
export interface ClockNotice {
  /** Schedules and timers are held. */
  readonly held: boolean
  /** Nothing is deleted because of its age. */
  readonly deletion_held: boolean
  readonly reason: string
}

export function noticeOf(
  clock: Pick<StoreClock, 'status' | 'mayFire' | 'mayDelete'>,
): ClockNotice | null {
  const { hold, agreedMs } = clock.status()
  if (hold) {
    const left = seconds(Math.max(0, CLOCK_HOLD_MS - hold.heldMs))
    const wait = clock.mayFire()
      ? 'it keeps jumping, and schedules fire by the monotonic clock'
      : `schedules and timers are held for another ${left} at most`
    const reason = `the wall clock ${EVENT_TEXTS[hold.doubt]} by ${seconds(Math.abs(hold.byMs))}: ${wait}`
    return { held: !clock.mayFire(), deletion_held: true, reason }
  }
  if (clock.mayDelete() || agreedMs === null) return null
  const hours = ((DELETION_WAIT_MS - agreedMs) / 3_600_000).toFixed(1)
  const reason =
    `nothing is deleted by age for another ${hours} h of uptime: ` +
    'the wall clock has to agree for as long after a jump or an absence'
  return { held: false, deletion_held: true, reason }
}
