import { readRule } from '../schedule/index.ts'
import type { Expectations } from './expectations.ts'

/** What is still expected of one run. Travels to the store as text, which does not look into it. */
export interface Terms {
  readonly startBy?: number | undefined
  readonly endBy?: number | undefined
  readonly longestMs?: number | undefined
  /** The longest it may take is not known yet: so many times what runs of this schedule usually take. */
  readonly usually?: { readonly scheduleId: number; readonly times: number } | undefined
  readonly output?: true | undefined
}

/** A time of a schedule that becomes a run. */
export interface ExpectedTime {
  readonly scheduleId: number
  readonly nominalAt: number
  /** The same with its jitter. */
  readonly fireAt: number
  readonly zone: string
}

/** What is expected of the run of a time; null if nothing is. */
export function termsOf(expectations: Expectations, time: ExpectedTime): Terms | null {
  const { expectMs, expectTimes, expectStartMs, expectOutput } = expectations
  const { scheduleId, fireAt } = time
  const endBy = deadlineOf(expectations, time)
  const terms: Terms = {
    ...(expectStartMs === undefined ? {} : { startBy: fireAt + expectStartMs }),
    ...(endBy === null ? {} : { endBy }),
    ...(expectMs === undefined ? {} : { longestMs: expectMs }),
    ...(expectTimes === undefined ? {} : { usually: { scheduleId, times: expectTimes } }),
    ...(expectOutput ? { output: true } : {}),
  }
  return Object.keys(terms).length === 0 ? null : terms
}

/** By when the run of a time should have ended; null if nobody said. */
export function deadlineOf(
  { deadlineMs, deadlineClock }: Expectations,
  { nominalAt, zone }: Pick<ExpectedTime, 'nominalAt' | 'zone'>,
): number | null {
  if (deadlineMs !== undefined) return nominalAt + deadlineMs
  return deadlineClock === undefined ? null : nextOnClock(deadlineClock, zone, nominalAt)
}

/**
 * The next instant after this one at which clocks of the zone show the time. On a night when they jump
 * over it, it is when they have jumped; when they show it twice, whichever comes next.
 */
export function nextOnClock(clock: string, zone: string, after: number): number | null {
  const [hour, minute, second = '0'] = clock.split(':').map((part) => String(Number(part)))
  const cron = `${second} ${minute} ${hour} * * *`
  const reading = readRule({ cron, zone, dst: { gap: 'run-after', repeat: 'both' } })
  return reading.ok ? reading.rule.next(after) : null
}
