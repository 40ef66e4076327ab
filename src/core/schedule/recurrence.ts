import { nextOnCalendar } from './next-on-calendar.ts'
import { planOf, readCron, writeCron } from './cron.ts'
import { readInstant, writeInstant } from './instant.ts'
import { nextInterval, readInterval, writeInterval } from './interval.ts'
import type { DstPolicy } from './next-fire.ts'
import { Refusal } from './refusal.ts'
import type { RuleSource } from './rule.ts'
import type { Zone } from './zone.ts'

/** When a rule fires, before start, end and jitter have their say. */
export interface Recurrence {
  /** The field of the source it came from. */
  readonly field: 'cron' | 'every' | 'at'
  readonly text: string
  readonly afterFinish: number | null
  next(after: number): number | null
  describe(): string
}

interface Circumstances {
  readonly zone: Zone
  readonly policy: DstPolicy
  /** What intervals count from. */
  readonly start: number
  readonly seed: string
}

const EVERY = /^\s*@every\s+(\S+)\s*$/i
const AFTER_FINISH = /^(\S+) after finish$/

export function readRecurrence(source: RuleSource, around: Circumstances): Recurrence {
  const { cron, every, at } = source
  const given = [cron, every, at].filter((value) => value !== undefined)
  if (given.length !== 1) {
    const message = given.length === 0 ? 'it does not say when' : 'it says when more than once'
    throw new Refusal('cron', message, 'Give one of cron, every and at.')
  }
  if (cron !== undefined) return readCronText(cron, around)
  if (every !== undefined) return readEvery(every, around)
  return oneShot(at!, source, around)
}

function readCronText(text: string, around: Circumstances): Recurrence {
  const [, duration] = EVERY.exec(text) ?? []
  if (duration !== undefined) {
    const ms = readInterval(duration, 'cron')
    return { ...interval(ms, around), field: 'cron', text: `@every ${writeInterval(ms)}` }
  }
  const fields = readCron(text, around.seed)
  const plan = planOf(fields)
  return {
    field: 'cron',
    text: writeCron(fields),
    afterFinish: null,
    next: (after) => nextOnCalendar(plan, around.zone, around.policy, after),
    describe: () => writeCron(fields),
  }
}

function readEvery(text: string, around: Circumstances): Recurrence {
  const trimmed = text.trim().toLowerCase()
  const [, delay] = AFTER_FINISH.exec(trimmed) ?? []
  if (delay !== undefined) return afterFinish(readInterval(delay, 'every'))
  return interval(readInterval(trimmed, 'every'), around)
}

function interval(ms: number, { start }: Circumstances): Recurrence {
  const text = writeInterval(ms)
  return {
    field: 'every',
    text,
    afterFinish: null,
    next: (after) => nextInterval(ms, start, after),
    describe: () => `every ${text}`,
  }
}

function afterFinish(ms: number): Recurrence {
  const text = `${writeInterval(ms)} after finish`
  return {
    field: 'every',
    text,
    afterFinish: ms,
    next: (after) => after + ms,
    describe: () => text,
  }
}

/** One that falls into a gap or comes twice is settled as for any other rule, but fires once. */
function oneShot(
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
    describe: () => `once, at ${text}`,
  }
}

/** The instant a local second stands for. Offsets are less than a day, so it is at most one away. */
function resolveLocal(localSecond: number, { zone, policy }: Circumstances): number {
  const day = 86_400
  let found: number | undefined
  let at = localSecond - day
  while (at <= localSecond + day) {
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
