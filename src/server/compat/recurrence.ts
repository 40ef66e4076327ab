import { scheduleError } from '../../core/schedule/rule/rule-error.ts'
import { readRule, type RuleSource } from '../../core/schedule/index.ts'
import { formatTime } from '../../core/wire/runs.ts'

/** When a job runs by itself: once, now or at a time; by a rule; or both. */
export interface JobTiming {
  readonly rule?: RuleSource
  /** Without a time, now. */
  readonly once?: { readonly at: number | undefined }
}

const ZONE_PREFIX = /^\s*(?:CRON_)?TZ=(\S+)\s+/
const INSTANT = /^\d{4}-\d\d-\d\d/
const EVERY = /^@every\b/i
const IN_WORDS = /^[A-Za-z]/

/**
 * Reads `schedule` or `cron_schedule`: cron with five or six fields, `@daily` and similar, `@every
 * 90s`, an instant, or words; optionally after `CRON_TZ=Europe/Berlin`. With `firstAt` it fires
 * there first, and then as the text says; a past first time means now.
 */
export function readCompatRecurrence(
  text: string,
  field: string,
  { zone: defaultZone, now, firstAt }: { zone: string; now: number; firstAt?: number | undefined },
): JobTiming {
  const [prefix = '', zone = defaultZone] = ZONE_PREFIX.exec(text) ?? []
  const stated = text.slice(prefix.length).trim()
  const isInterval = EVERY.test(stated)
  // Intervals count from their start, and fire at it.
  const start = isInterval ? (firstAt ?? now) : firstAt && firstAt + 1
  const since = start === undefined ? {} : { start: formatTime(start, field) }
  const rule = { ...ruleOf(stated), zone, ...since }
  check(rule, field, now)
  if (firstAt === undefined || (isInterval && firstAt > now)) return { rule }
  return { rule, once: { at: firstAt } }
}

function ruleOf(stated: string): RuleSource {
  if (INSTANT.test(stated)) return { at: stated }
  return IN_WORDS.test(stated) ? { every: stated } : { cron: stated }
}

function check(rule: RuleSource, field: string, now: number): void {
  const reading = readRule(rule)
  const { message, hint } = reading.ok ? OVER : reading.problem
  if (reading.ok && reading.rule.next(now) !== null) return
  throw scheduleError(field, message, hint)
}

const OVER = { message: 'its last time is in the past', hint: 'Choose a future time.' }

/** The original text, or an equivalent one; null for a job that does not repeat. */
export function writeCompatRecurrence(
  rules: readonly RuleSource[],
  defaultZone: string,
): string | null {
  const texts = rules.map(({ cron, every, at, zone }) => {
    const stated = String(cron ?? every ?? at)
    return zone === undefined || zone === defaultZone ? stated : `CRON_TZ=${zone} ${stated}`
  })
  return texts.length === 0 ? null : texts.join('; ')
}
