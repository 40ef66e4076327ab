import { PunctualError } from '../errors.ts'
import { FIRST_INSTANT, LAST_INSTANT } from './calendar/dates.ts'
import { readInstant } from './instant.ts'
import { nearestWord, excerptOf, RuleError } from './rule/rule-error.ts'
import { clockAtOffset, type LocalClock, clockOfZone } from './local-clock.ts'
import { type Direction, readDayAndTime, WHEN_WORDS } from './when-day.ts'
import { readLength } from './when-duration.ts'
import { isZoneName } from './zones/zone-names.ts'

export interface WhenContext {
  readonly now: number
  /** The zone to use if the text has none. */
  readonly zone: string
  readonly direction?: Direction
}

/** Longer than any time; a longer text is not parsed. */
const MAX_LENGTH = 200
const HINT =
  'Write 2027-01-31T09:00, 2027-01-31, tomorrow 09:00, friday at 17:30, 09:00, 24h, 5m ago or in 2 hours.'
const DATE_AND_CLOCK = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?! ?[ap]m)/
const OFFSET = /(?<=[\d ])z$|[+-]\d\d:\d\d$/
const AHEAD = /^in (.+)$|^(.+) from now$/
const AGO = /^(.+) ago$/

/**
 * Reads an instant as users write it: `2026-11-18`, `tomorrow 09:00`, `24h`, `5m ago`, or an RFC 3339 time. All
 * commands and the run filter use this format; docs/reference/times.md describes it.
 */
export function readWhen(text: string, here: WhenContext, field = 'when'): number {
  try {
    return readTimeText(text, here)
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    const { message, hint = HINT } = error
    throw new PunctualError('invalid_schedule', `${field}: ${message}`, { field, hint })
  }
}

/** Whether the meaning of a text depends on the reader's zone. */
export function needsZone(text: string): boolean {
  const { phrase, zone } = splitZone(text)
  if (zone !== undefined || phrase === 'now' || OFFSET.test(phrase)) return false
  return readLength(AGO.exec(phrase)?.[1] ?? phrase) === undefined && !AHEAD.test(phrase)
}

function readTimeText(text: string, here: WhenContext): number {
  if (text.length > MAX_LENGTH) throw notUnderstood(text)
  const { rest, phrase, zone } = splitZone(text)
  const { direction = 'future', now } = here
  const length = readLengthFromNow(phrase, direction)
  if (phrase === 'now') return now
  if (length !== undefined) return within(now + length, text)
  const [offset] = OFFSET.exec(phrase) ?? []
  if (offset !== undefined && zone !== undefined) {
    throw new RuleError(
      'when',
      `${excerptOf(text)} names an offset and a zone`,
      'Leave one of them out.',
    )
  }
  const clocks = offset === undefined ? clockOfZone(zone ?? here.zone) : clockAtOffset(offset)
  if (DATE_AND_CLOCK.test(phrase)) return readDateAndClock(phrase, clocks)
  const found = readDayAndTime(phrase.replace(OFFSET, '').trimEnd(), { clocks, now, direction })
  if (found === undefined) throw notUnderstood(rest)
  return within(found, text)
}

/** Removes a zone from the end: `tomorrow 09:00 Europe/Athens`. Only the zone is case-sensitive. */
function splitZone(text: string): { rest: string; phrase: string; zone: string | undefined } {
  const words = text.trim().split(/\s+/)
  const last = words.at(-1) ?? ''
  const name = last.toLowerCase() === 'utc' ? 'UTC' : last
  const isZone = words.length > 1 && (isZoneName(name) || /^[A-Za-z_]+\//.test(name))
  const rest = (isZone ? words.slice(0, -1) : words).join(' ')
  return { rest, phrase: rest.toLowerCase(), zone: isZone ? name : undefined }
}

/** `in 2 hours`, `5m ago`, or `24h`, which goes in the reader's direction. */
function readLengthFromNow(phrase: string, direction: Direction): number | undefined {
  const [, ahead, fromNow] = AHEAD.exec(phrase) ?? []
  const [, ago] = AGO.exec(phrase) ?? []
  const length = readLength(ahead ?? fromNow ?? ago ?? phrase)
  if (length === undefined) return undefined
  const isPast = ago !== undefined || (ahead ?? fromNow ?? direction) === 'past'
  return isPast ? -length : length
}

/** A date with a time, checked as strictly as in a schedule: it may have seconds and an offset. */
function readDateAndClock(phrase: string, clocks: LocalClock): number {
  const instant = readInstant(phrase.replace(/ (?=[z+-])/, ''), 'when')
  return typeof instant === 'number' ? instant : clocks.resolve(instant.localSecond)
}

function within(instant: number, text: string): number {
  if (instant >= FIRST_INSTANT && instant <= LAST_INSTANT) return instant
  throw new RuleError('when', `${excerptOf(text)} is not between 1970 and 9999`)
}

function notUnderstood(text: string): RuleError {
  const message = text.trim() === '' ? 'it is empty' : `${excerptOf(text)} is not a time`
  const wrong = text
    .toLowerCase()
    .match(/[a-z]{5,}/g)
    ?.find((word) => !WHEN_WORDS.includes(word))
  const suggestion = wrong === undefined ? undefined : nearestWord(wrong, WHEN_WORDS)
  return new RuleError(
    'when',
    message,
    suggestion === undefined ? HINT : `Did you mean ${suggestion}? ${HINT}`,
  )
}
