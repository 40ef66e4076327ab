import { FIRST_INSTANT, LAST_INSTANT } from './calendar/dates.ts'
import { hashFraction } from './rule/hash.ts'
import { readAbsolute } from './instant.ts'
import { readDuration } from './interval.ts'
import { readRecurrence, type Recurrence } from './recurrence.ts'
import { excerptOf, RuleError } from './rule/rule-error.ts'
import {
  type Rule,
  type RuleReading,
  type RuleSource,
  type DstPolicy,
  REPEATS,
  GAPS,
} from './rule/rule.ts'
import { zoneNamed } from './zones/zone-names.ts'

/** Maximum jitter; a longer delay should be a separate rule. */
const MAX_JITTER_MS = 7 * 86_400_000

/**
 * Reads a rule, or returns what is wrong with it. A rule that never fires is rejected; with `now`, so is a rule that
 * never fires again.
 */
export function readRule(source: RuleSource, now?: number): RuleReading {
  try {
    return { ok: true, rule: parseRule(source, now) }
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    const { field, message, hint } = error
    return { ok: false, problem: { field, message, ...(hint === undefined ? {} : { hint }) } }
  }
}

function parseRule(source: RuleSource, now: number | undefined): Rule {
  const zone = zoneNamed(source.zone ?? 'UTC')
  const policy = readPolicy(source.dst)
  const start = source.start === undefined ? FIRST_INSTANT : readAbsolute(source.start, 'start')
  const end = source.end === undefined ? LAST_INSTANT : readAbsolute(source.end, 'end')
  const jitterMs = readJitter(source.jitter)
  const seed = source.seed ?? ''
  const recurrence = readRecurrence(source, { zone, policy, start, seed })

  function next(after: number): number | null {
    if (!(after < end)) return null
    const nominal = recurrence.next(Math.max(after, start - 1))
    return nominal === null || nominal > end ? null : nominal
  }

  // Jitter ends before the next time: out of order, times would look missed.
  function jitterOf(nominal: number): number {
    if (jitterMs === 0) return 0
    const following = recurrence.afterFinish === null ? next(nominal) : null
    const maxMs = Math.min(jitterMs, (following ?? Infinity) - nominal - 1)
    return Math.floor(hashFraction(`${seed}\n${nominal}`) * (maxMs + 1))
  }

  // A past instant is not rejected here: the caller may still want it.
  const isRecurring = recurrence.afterFinish === null && recurrence.field !== 'at'
  const since = Math.max(now ?? 0, start) - 1
  if (isRecurring && next(since) === null) {
    throw neverFires(source, recurrence, recurrence.next(since) === null, since)
  }
  return {
    text: recurrence.text,
    afterFinish: recurrence.afterFinish,
    next,
    countInto: (counts, from, until) =>
      recurrence.countInto(counts, Math.max(from, start), Math.min(until, end + 1)),
    jitterOf,
    describe: recurrence.describe,
  }
}

/** Days that never occur are rejected earlier; the remaining case is a local time that clocks always skip. */
function neverFires(
  { start, end }: RuleSource,
  { field, lastYear, next }: Recurrence,
  isEndless: boolean,
  searchedFrom: number,
): RuleError {
  const isOver = lastYear !== undefined && lastYear <= new Date(searchedFrom).getUTCFullYear()
  if (isEndless && isOver && next(-1) !== null) {
    const message = `it never fires again: all its times in ${lastYear}, its last year, have passed`
    return new RuleError(field, message, 'Name a later year, or leave the year out.')
  }
  if (isEndless) {
    const message = 'it never fires: clock changes skip its times'
    return new RuleError(field, message, 'With dst.gap run-after it fires after the change.')
  }
  if (end === undefined) return new RuleError('start', `it never fires from ${start} on`)
  const since = start === undefined ? '' : ` from ${start}`
  return new RuleError('end', `it never fires${since} until ${end}`, 'Choose a later end.')
}

function readPolicy(dst: RuleSource['dst']): DstPolicy {
  const { gap = 'run-after', repeat = 'first' } = dst ?? {}
  return { gap: oneOf(GAPS, gap, 'dst.gap'), repeat: oneOf(REPEATS, repeat, 'dst.repeat') }
}

function oneOf<T extends string>(words: readonly T[], word: T, field: string): T {
  if (words.includes(word)) return word
  throw new RuleError(field, `${excerptOf(word)} is not one of ${words.join(', ')}`)
}

function readJitter(jitter: RuleSource['jitter']): number {
  if (jitter === undefined) return 0
  const ms = typeof jitter === 'number' ? jitter : readDuration(jitter, 'jitter')
  if (Number.isInteger(ms) && ms >= 0 && ms <= MAX_JITTER_MS) return ms
  throw new RuleError('jitter', `${jitter} is not within 0 and 7d`, 'Write it as 30s or 2m.')
}
