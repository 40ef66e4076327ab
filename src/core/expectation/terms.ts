import { readRule } from '../schedule/index.ts'
import type { Expectations } from './expectations.ts'

/** The remaining expectations about one run. The store keeps them as text (`encodeTerms`) and does not interpret it. */
export interface ExpectationTerms {
  readonly startBy?: number | undefined
  readonly endBy?: number | undefined
  readonly longestMs?: number | undefined
  /** The maximum duration as a multiple of the typical duration of the schedule's runs, which is not known yet. */
  readonly typicalMultiple?: { readonly scheduleId: number; readonly times: number } | undefined
  readonly output?: true | undefined
}

/** A nominal time that becomes a run. */
export interface ExpectedTime {
  readonly scheduleId: number
  readonly nominalAt: number
  /** The nominal time plus its jitter. */
  readonly fireAt: number
  readonly zone: string
}

/** The expectations about the run of a time; null if there are none. */
export function expectationTermsOf(
  expectations: Expectations,
  time: ExpectedTime,
): ExpectationTerms | null {
  const { expectMs, expectTimes, expectStartMs, expectOutput } = expectations
  const { scheduleId, fireAt } = time
  const endBy = deadlineOf(expectations, time)
  const terms: ExpectationTerms = {
    ...(expectStartMs === undefined ? {} : { startBy: fireAt + expectStartMs }),
    ...(endBy === null ? {} : { endBy }),
    ...(expectMs === undefined ? {} : { longestMs: expectMs }),
    ...(expectTimes === undefined ? {} : { typicalMultiple: { scheduleId, times: expectTimes } }),
    ...(expectOutput ? { output: true } : {}),
  }
  return Object.keys(terms).length === 0 ? null : terms
}

/** The stored text. In it, `typicalMultiple` has its first name, `usually`: stored terms must stay readable. */
export function encodeTerms({ typicalMultiple, ...terms }: ExpectationTerms): string {
  return JSON.stringify({ ...terms, usually: typicalMultiple })
}

export function decodeTerms(stored: string): ExpectationTerms {
  const { usually, ...terms } = JSON.parse(stored) as ExpectationTerms & {
    readonly usually?: ExpectationTerms['typicalMultiple']
  }
  return usually === undefined ? terms : { ...terms, typicalMultiple: usually }
}

/** The time by which the run should have ended; null without a deadline. */
export function deadlineOf(
  { deadlineMs, deadlineClock }: Expectations,
  { nominalAt, zone }: Pick<ExpectedTime, 'nominalAt' | 'zone'>,
): number | null {
  if (deadlineMs !== undefined) return nominalAt + deadlineMs
  return deadlineClock === undefined ? null : nextOnClock(deadlineClock, zone, nominalAt)
}

/**
 * The next time after `after` at which local clocks show the given time of day. If the clocks jump over it, it is the
 * end of the jump; if they show it twice, it is the next of the two.
 */
export function nextOnClock(clock: string, zone: string, after: number): number | null {
  const [hour, minute, second = '0'] = clock.split(':').map((part) => String(Number(part)))
  const cron = `${second} ${minute} ${hour} * * *`
  const reading = readRule({ cron, zone, dst: { gap: 'run-after', repeat: 'both' } })
  return reading.ok ? reading.rule.next(after) : null
}
