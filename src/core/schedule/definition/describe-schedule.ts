import { writeInterval } from '../interval.ts'
import { readRule, type RuleSource } from '../index.ts'

/** Rules based on elapsed time are the same in every zone. */
const NEEDS_NO_ZONE =
  /^(?:every (?:\d+(?:w|d|h|m|s|ms))+|once, at .*|.* after finish|as soon as .*)$/

/** An unambiguous description of a rule: `weekdays at 09:05, Europe/Athens`. */
export function scheduleWords(source: RuleSource): string {
  const reading = readRule(source)
  if (!reading.ok) return 'a rule that this server cannot read'
  const when = reading.rule.describe()
  const { zone = 'UTC', start, end, jitter } = source
  return [
    when,
    ...(NEEDS_NO_ZONE.test(when) ? [] : [zone]),
    ...(start === undefined ? [] : [`from ${start}`]),
    ...(end === undefined ? [] : [`until ${end}`]),
    ...(jitter === undefined ? [] : [`up to ${showJitter(jitter)} later`]),
  ].join(', ')
}

function showJitter(jitter: string | number): string {
  return typeof jitter === 'number' ? writeInterval(jitter) : jitter
}
