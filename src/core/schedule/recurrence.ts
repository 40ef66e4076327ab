import { compilePlan } from './calendar/calendar-rule.ts'
import type { CalendarPlan } from './calendar/plan.ts'
import { readCron, writeCron } from './cron/read-cron.ts'
import { countIntervals, nextInterval, readDelay, readInterval, writeInterval } from './interval.ts'
import type { MinuteCounts } from './rule/minute-counts.ts'
import { readOneShot } from './one-shot.ts'
import { RuleError } from './rule/rule-error.ts'
import type { RuleSource, DstPolicy } from './rule/rule.ts'
import { describeRule } from './words/describe.ts'
import { readWords } from './words/read-words.ts'
import { countOnCalendar } from './zones/count-on-calendar.ts'
import { nextOnCalendar } from './zones/next-on-calendar.ts'
import type { Zone } from './zones/zone.ts'

/** The times of a rule, before start, end and jitter are applied. */
export interface Recurrence {
  /** The field of the source that defines it. */
  readonly field: 'cron' | 'every' | 'at'
  readonly text: string
  readonly afterFinish: number | null
  /** The last year in which it fires, if the rule names years. */
  readonly lastYear?: number | undefined
  next(after: number): number | null
  countInto(counts: MinuteCounts, from: number, until: number): void
  describe(): string
}

export interface RecurrenceContext {
  readonly zone: Zone
  readonly policy: DstPolicy
  /** The instant from which intervals count. */
  readonly start: number
  readonly seed: string
}

const EVERY = /^\s*@every\s+(\S+)\s*$/i
const AFTER_FINISH = /^(\S+) after finish$/
/** The description of a zero delay. */
const AT_ONCE = 'as soon as the last run has ended'
/** A number followed directly by a unit; other forms contain a space. */
const DURATION = /^[\d.]+[a-zµ]*[\d.a-z]*$/
/** Starts with a star, or with two numeric fields; words contain letters by then. */
const CRON = /^(?:\*\S*|[\d*?,/-]+ [\d*?,/-]+)(?: |$)/

export function readRecurrence(source: RuleSource, context: RecurrenceContext): Recurrence {
  const { cron, every, at } = source
  const given = [cron, every, at].filter((value) => value !== undefined)
  if (given.length !== 1) {
    const message = given.length === 0 ? 'it does not say when' : 'it says when more than once'
    throw new RuleError('cron', message, 'Give one of cron, every and at.')
  }
  if (cron !== undefined) return readCronText(cron, context)
  if (every !== undefined) return readEvery(every, context)
  return readOneShot(at!, source, context)
}

function readCronText(text: string, context: RecurrenceContext): Recurrence {
  const [, duration] = EVERY.exec(text) ?? []
  if (duration !== undefined) {
    const ms = readInterval(duration, 'cron')
    return { ...interval(ms, context), field: 'cron', text: `@every ${writeInterval(ms)}` }
  }
  const rule = readCron(text, context.seed)
  return {
    field: 'cron',
    text: writeCron(rule),
    afterFinish: null,
    lastYear: rule.days.year?.values.at(-1),
    ...onCalendar(compilePlan(rule), context),
    // Parsed again on demand: tens of thousands of rules are in memory, and few descriptions are needed.
    describe: () => describeRule(readCron(text, context.seed)),
  }
}

function onCalendar(
  plan: CalendarPlan,
  { zone, policy }: RecurrenceContext,
): Pick<Recurrence, 'next' | 'countInto'> {
  return {
    next: (after) => nextOnCalendar(plan, zone, policy, after),
    countInto: (counts, from, until) => countOnCalendar(plan, zone, policy, counts, from, until),
  }
}

function readEvery(text: string, context: RecurrenceContext): Recurrence {
  const stated = text
    .trim()
    .toLowerCase()
    .replace(/^every (?=\d+(\.\d+)?[a-z])/, '')
  const [, delay] = AFTER_FINISH.exec(stated) ?? []
  if (delay !== undefined) return afterFinish(readDelay(delay, 'every'))
  if (stated === AT_ONCE) return afterFinish(0)
  if (DURATION.test(stated)) return interval(readInterval(stated, 'every'), context)
  if (stated.startsWith('@') || CRON.test(stated)) {
    throw new RuleError('every', 'it is written as cron', 'Give it as `cron`.')
  }
  const parsed = readWords(stated)
  if ('intervalMs' in parsed) return interval(parsed.intervalMs, context)
  const said = describeRule(parsed)
  return {
    field: 'every',
    text: said,
    afterFinish: null,
    ...onCalendar(compilePlan(parsed), context),
    describe: () => said,
  }
}

function interval(ms: number, { start }: RecurrenceContext): Recurrence {
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
    // A run that ended exactly when it was due must still be followed by a later time.
    next: (after) => after + Math.max(ms, 1),
    countInto() {},
    describe: () => (ms === 0 ? AT_ONCE : text),
  }
}
