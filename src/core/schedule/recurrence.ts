import { planOf } from './calendar/calendar-rule.ts'
import type { Plan } from './calendar/plan.ts'
import { readCron, writeCron } from './cron/read-cron.ts'
import { countIntervals, nextInterval, readDelay, readInterval, writeInterval } from './interval.ts'
import type { MinuteCounts } from './rule/minute-counts.ts'
import { readOneShot } from './one-shot.ts'
import { Refusal } from './rule/rule-error.ts'
import type { RuleSource } from './rule/rule.ts'
import { describe } from './words/describe.ts'
import { readWords } from './words/read-words.ts'
import type { DstPolicy } from './zones/next-fire.ts'
import { countOnCalendar } from './zones/count-on-calendar.ts'
import { nextOnCalendar } from './zones/next-on-calendar.ts'
import type { Zone } from './zones/zone.ts'

/** When a rule fires, before start, end and jitter have their say. */
export interface Recurrence {
  /** The field of the source it came from. */
  readonly field: 'cron' | 'every' | 'at'
  readonly text: string
  readonly afterFinish: number | null
  next(after: number): number | null
  countInto(counts: MinuteCounts, from: number, until: number): void
  describe(): string
}

export interface Circumstances {
  readonly zone: Zone
  readonly policy: DstPolicy
  /** What intervals count from. */
  readonly start: number
  readonly seed: string
}

const EVERY = /^\s*@every\s+(\S+)\s*$/i
const AFTER_FINISH = /^(\S+) after finish$/
/** What a delay of nothing means. */
const AT_ONCE = 'as soon as the last run has ended'
/** A number with its unit at once; words have a blank between them. */
const DURATION = /^[\d.]+[a-zµ]*[\d.a-z]*$/
const CRON = /^[\d*]\S* [\d*]\S* \S+ \S+ \S+/

export function readRecurrence(source: RuleSource, around: Circumstances): Recurrence {
  const { cron, every, at } = source
  const given = [cron, every, at].filter((value) => value !== undefined)
  if (given.length !== 1) {
    const message = given.length === 0 ? 'it does not say when' : 'it says when more than once'
    throw new Refusal('cron', message, 'Give one of cron, every and at.')
  }
  if (cron !== undefined) return readCronText(cron, around)
  if (every !== undefined) return readEvery(every, around)
  return readOneShot(at!, source, around)
}

function readCronText(text: string, around: Circumstances): Recurrence {
  const [, duration] = EVERY.exec(text) ?? []
  if (duration !== undefined) {
    const ms = readInterval(duration, 'cron')
    return { ...interval(ms, around), field: 'cron', text: `@every ${writeInterval(ms)}` }
  }
  const rule = readCron(text, around.seed)
  return {
    field: 'cron',
    text: writeCron(rule),
    afterFinish: null,
    ...onCalendar(planOf(rule), around),
    // Read once more when somebody asks: tens of thousands of rules are kept, few are looked at.
    describe: () => describe(readCron(text, around.seed)),
  }
}

function onCalendar(
  plan: Plan,
  { zone, policy }: Circumstances,
): Pick<Recurrence, 'next' | 'countInto'> {
  return {
    next: (after) => nextOnCalendar(plan, zone, policy, after),
    countInto: (counts, from, until) => countOnCalendar(plan, zone, policy, counts, from, until),
  }
}

function readEvery(text: string, around: Circumstances): Recurrence {
  const stated = text
    .trim()
    .toLowerCase()
    .replace(/^every (?=\d+(\.\d+)?[a-z])/, '')
  const [, delay] = AFTER_FINISH.exec(stated) ?? []
  if (delay !== undefined) return afterFinish(readDelay(delay, 'every'))
  if (stated === AT_ONCE) return afterFinish(0)
  if (DURATION.test(stated)) return interval(readInterval(stated, 'every'), around)
  if (stated.startsWith('@') || CRON.test(stated)) {
    throw new Refusal('every', 'it is written as cron', 'Give it as `cron`.')
  }
  const spoken = readWords(stated)
  if ('intervalMs' in spoken) return interval(spoken.intervalMs, around)
  const said = describe(spoken)
  return {
    field: 'every',
    text: said,
    afterFinish: null,
    ...onCalendar(planOf(spoken), around),
    describe: () => said,
  }
}

function interval(ms: number, { start }: Circumstances): Recurrence {
  const text = writeInterval(ms)
  return {
    field: 'every',
    text,
    afterFinish: null,
    next: (after) => nextInterval(ms, start, after),
    countInto: (counts, from, until) => countIntervals(ms, start, counts, from, until),
    describe: () => `every ${text}`,
  }
}

function afterFinish(ms: number): Recurrence {
  const text = `${writeInterval(ms)} after finish`
  return {
    field: 'every',
    text,
    afterFinish: ms,
    // A run that ended at the very instant it was due is followed by a later one all the same.
    next: (after) => after + Math.max(ms, 1),
    countInto() {},
    describe: () => (ms === 0 ? AT_ONCE : text),
  }
}
