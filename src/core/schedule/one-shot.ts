import { DAY_SECONDS } from './calendar/dates.ts'
import { readInstant, writeInstant } from './instant.ts'
import { countAt } from './rule/minute-counts.ts'
import type { Circumstances, Recurrence } from './recurrence.ts'
import { Refusal } from './rule/rule-error.ts'
import type { RuleSource } from './rule/rule.ts'

/** One instant. If clocks leave it out or bring it twice, the policy decides, but it fires once. */
export function readOneShot(
  at: string | number,
  { start, end, zone: zoneName }: RuleSource,
  around: Circumstances,
): Recurrence {
  if (start !== undefined || end !== undefined) {
    throw new Refusal(start === undefined ? 'end' : 'start', 'an instant has no start and no end')
  }
  const read = readInstant(at, 'at')
  if (typeof read !== 'number' && zoneName === undefined) {
    const hint = 'Add Z or an offset such as +02:00, or give a zone.'
    throw new Refusal('at', `${at} does not say in which zone`, hint)
  }
  const instant = typeof read === 'number' ? read : resolveLocal(read.localSecond, around)
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

/** The instant a local second stands for. Offsets are less than a day, so it is at most one away. */
function resolveLocal(localSecond: number, { zone, policy }: Circumstances): number {
  let found: number | undefined
  let at = localSecond - DAY_SECONDS
  while (at <= localSecond + DAY_SECONDS) {
    const { from, to, before, offset } = zone.stretchAt(at)
    const second = localSecond - offset
    if (localSecond >= from + before && localSecond < from + offset) {
      if (policy.gap === 'skip') {
        const message = 'clocks jump over this time'
        throw new Refusal('at', message, 'Choose another, or dst.gap run-after.')
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
