import { DAY_SECONDS } from './calendar/dates.ts'
import { readInstant, writeInstant } from './instant.ts'
import { countAt } from './rule/minute-counts.ts'
import type { RecurrenceContext, Recurrence } from './recurrence.ts'
import { RuleError } from './rule/rule-error.ts'
import type { RuleSource } from './rule/rule.ts'

/** A single instant. If clocks skip or repeat it, the policy decides, but it fires once. */
export function readOneShot(
  at: string | number,
  { start, end, zone: zoneName }: RuleSource,
  context: RecurrenceContext,
): Recurrence {
  if (start !== undefined || end !== undefined) {
    throw new RuleError(
      start === undefined ? 'end' : 'start',
      'a single instant cannot have a start or an end',
    )
  }
  const read = readInstant(at, 'at')
  if (typeof read !== 'number' && zoneName === undefined) {
    const hint = 'Add Z or an offset such as +02:00, or give a zone.'
    throw new RuleError('at', `${at} has no zone`, hint)
  }
  const instant = typeof read === 'number' ? read : resolveLocal(read.localSecond, context)
  const text = writeInstant(instant)
  return {
    field: 'at',
    text,
    afterFinish: null,
    next: (after) => (after < instant ? instant : null),
    countInto(counts, from, until) {
      if (instant >= from && instant < until) countAt(counts, instant)
    },
    describe: () => `once, at ${text}`,
  }
}

/** The instant of a local second. Offsets are less than a day, so it is at most one day away. */
export function resolveLocal(
  localSecond: number,
  { zone, policy }: Pick<RecurrenceContext, 'zone' | 'policy'>,
): number {
  let found: number | undefined
  let at = localSecond - DAY_SECONDS
  while (at <= localSecond + DAY_SECONDS) {
    const { from, to, before, offset } = zone.periodAt(at)
    const second = localSecond - offset
    if (localSecond >= from + before && localSecond < from + offset) {
      if (policy.gap === 'skip') {
        const message = 'a clock change skips this time'
        throw new RuleError('at', message, 'Choose another, or dst.gap run-after.')
      }
      return from * 1_000
    }
    if (second >= from && second < to) {
      found = second * 1_000
      if (policy.repeat !== 'last') return found
    }
    at = to
  }
  return found!
}
