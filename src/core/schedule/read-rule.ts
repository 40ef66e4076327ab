import { FIRST_INSTANT, LAST_INSTANT } from './calendar/dates.ts'
import { hashFraction } from './rule/hash.ts'
import { readAbsolute } from './instant.ts'
import { readDuration } from './interval.ts'
import { readRecurrence, type Recurrence } from './recurrence.ts'
import { quoted, Refusal } from './rule/rule-error.ts'
import type { Rule, RuleReading, RuleSource } from './rule/rule.ts'
import { GAPS, REPEATS, type DstPolicy } from './zones/next-fire.ts'
import { zoneNamed } from './zones/zone-names.ts'

/** Longer delays are a rule of their own. */
const MAX_JITTER_MS = 7 * 86_400_000

/**
 * Understands a rule, or says what is wrong with it. A rule that never fires is refused; with `now`,
 * so is one that never fires again.
 */
export function readRule(source: RuleSource, now?: number): RuleReading {
  try {
    return { ok: true, rule: understand(source, now) }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { field, message, hint } = error
    return { ok: false, problem: { field, message, ...(hint === undefined ? {} : { hint }) } }
  }
}

function understand(source: RuleSource, now: number | undefined): Rule {
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

  // It ends before the next time: in their order, times that overtake each other would look missed.
  function jitterOf(nominal: number): number {
    if (jitterMs === 0) return 0
    const following = recurrence.afterFinish === null ? next(nominal) : null
    const mostMs = Math.min(jitterMs, (following ?? Infinity) - nominal - 1)
    return Math.floor(hashFraction(`${seed}\n${nominal}`) * (mostMs + 1))
  }

  // An instant that is over is the caller's to judge: it may still be wanted.
  const isRecurring = recurrence.afterFinish === null && recurrence.field !== 'at'
  const since = Math.max(now ?? 0, start) - 1
  if (isRecurring && next(since) === null) {
    throw neverFires(source, recurrence, recurrence.next(since) === null)
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

/** Days that no calendar has are refused earlier; what is left is time that is never on a clock. */
function neverFires(
  { start, end }: RuleSource,
  { field }: Recurrence,
  isEndless: boolean,
): Refusal {
  if (isEndless) {
    const message = 'it never fires: clocks jump over the times it names'
    return new Refusal(field, message, 'With dst.gap run-after it fires when they have jumped.')
  }
  if (end === undefined) return new Refusal('start', `it never fires from ${start} on`)
  const since = start === undefined ? '' : ` from ${start}`
  return new Refusal('end', `it never fires${since} until ${end}`, 'Choose a later end.')
}

function readPolicy(dst: RuleSource['dst']): DstPolicy {
  const { gap = 'run-after', repeat = 'first' } = dst ?? {}
  return { gap: oneOf(GAPS, gap, 'dst.gap'), repeat: oneOf(REPEATS, repeat, 'dst.repeat') }
}

function oneOf<T extends string>(words: readonly T[], word: T, field: string): T {
  if (words.includes(word)) return word
  throw new Refusal(field, `${quoted(word)} is not one of ${words.join(', ')}`)
}

function readJitter(jitter: RuleSource['jitter']): number {
  if (jitter === undefined) return 0
  const ms = typeof jitter === 'number' ? jitter : readDuration(jitter, 'jitter')
  if (Number.isInteger(ms) && ms >= 0 && ms <= MAX_JITTER_MS) return ms
  throw new Refusal('jitter', `${jitter} is not within 0 and 7d`, 'Write it as 30s or 2m.')
}
