import { parseDuration } from '../text/duration.ts'
import { PunctualError } from '../errors.ts'
import { needsZone, readWhen } from '../schedule/index.ts'
import { CAUSES, type Cause, type RunState, STATES } from './run-state.ts'
import { parseTime } from '../text/time-text.ts'

/**
 * A filter for runs: `state:failed job:etl-* since:24h tag.team:billing`. Lists, bulk commands, the command line and
 * the dashboard share this language. Words are separated by spaces and must all match; of values separated by commas
 * one must match; `*` stands for any characters.
 */
export interface RunFilter {
  readonly states: ReadonlySet<RunState> | null
  readonly jobs: readonly string[] | null
  readonly queues: readonly string[] | null
  readonly workers: readonly string[] | null
  readonly causes: ReadonlySet<Cause> | null
  /** Whether the filter also selects steps of workflows. */
  readonly steps: boolean
  /** Created at or after, and created before. The format of times is described in docs/reference/times.md. */
  readonly since: number | null
  readonly until: number | null
  readonly tags: readonly { readonly name: string; readonly values: readonly string[] }[]
}

export const ANY_RUN: RunFilter = {
  states: null,
  jobs: null,
  queues: null,
  workers: null,
  causes: null,
  steps: true,
  since: null,
  until: null,
  tags: [],
}

/** Words that stand for several states. */
const STATE_WORDS: Readonly<Record<string, readonly RunState[]>> = {
  waiting: ['blocked', 'scheduled', 'ready'],
  live: ['blocked', 'scheduled', 'ready', 'running'],
  ended: ['succeeded', 'failed', 'cancelled', 'skipped'],
}
const KEYS = [
  'state',
  'job',
  'queue',
  'worker',
  'cause',
  'steps',
  'since',
  'until',
  'tag.<name>',
] as const
const LONGEST = 2_000
const WORD = /(?:[^\s"]|"[^"]*")+/g
const TIMED = /^(since|until):(.+)$/s
const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|[smhdw]))+$/
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S*(?:Z|[+-]\d\d:\d\d)$/
const PAIR = /^([a-z]+)(?:\.([A-Za-z0-9][A-Za-z0-9._-]*))?:(.+)$/s

/**
 * Parses a filter; durations count back from `now`. Times without a zone are in UTC, because a request does not state
 * the zone of its sender.
 */
export function parseRunFilter(text: string, now: number, field = 'q'): RunFilter {
  if (text.length > LONGEST) throw wrong(field, `is longer than ${LONGEST} characters`)
  if (text.includes('\0')) throw wrong(field, 'contains NUL, which names cannot contain')
  if (text.split('"').length % 2 === 0) throw wrong(field, 'has an unclosed quote')
  let filter = ANY_RUN
  for (const word of splitWords(text)) {
    filter = { ...filter, ...readWord(word, filter, now, field) }
  }
  return filter
}

/** Adds the author's zone to every time that depends on one, for a server that does not know that zone. */
export function nameZone(text: string, zone: string): string {
  if (text.split('"').length % 2 === 0) return text
  const words = splitWords(text).map((word) => {
    const [, key, value = ''] = TIMED.exec(word) ?? []
    const time = unquoted(value)
    return key !== undefined && needsZone(time) ? `${key}:"${time} ${zone}"` : word
  })
  return words.join(' ')
}

/** Splits words, keeping quotes. A time may contain spaces without quotes: `since:yesterday 00:00 state:failed`. */
function splitWords(text: string): string[] {
  const words: string[] = []
  for (const [word] of text.matchAll(WORD)) {
    const last = words.at(-1) ?? ''
    const belongsToTime = TIMED.test(last) && !last.includes('"') && !/^[a-z]+[.:]/.test(word)
    if (belongsToTime) words[words.length - 1] = `${last} ${word}`
    else words.push(word)
  }
  return words
}

function unquoted(value: string): string {
  return value.replace(/^"(.*)"$/s, '$1')
}

function readWord(word: string, before: RunFilter, now: number, field: string): Partial<RunFilter> {
  const [, key, name, value] = PAIR.exec(word) ?? []
  if (key === undefined || value === undefined) {
    throw wrong(field, `has "${shown(word)}", which is not key:value; try job:${shown(word)}*`)
  }
  const values = splitValues(value)
  if (values.includes('')) throw wrong(field, `has an empty value in "${shown(word)}"`)
  if (key === 'tag' && name !== undefined) return { tags: [...before.tags, { name, values }] }
  if (name !== undefined) throw unknownKey(`${key}.${name}`, field)
  switch (key) {
    case 'state':
      return { states: new Set(values.flatMap((state) => readState(state, field))) }
    case 'job':
      return { jobs: values }
    case 'queue':
      return { queues: values }
    case 'worker':
      return { workers: values }
    case 'cause':
      return { causes: new Set(values.map((cause) => readCause(cause, field))) }
    case 'steps':
      return { steps: readYesNo(value, field) }
    case 'since':
      return { since: readInstant(value, now, field) }
    case 'until':
      return { until: readInstant(value, now, field) }
    default:
      throw unknownKey(key, field)
  }
}

function readState(text: string, field: string): readonly RunState[] {
  if (Object.hasOwn(STATE_WORDS, text)) return STATE_WORDS[text] as readonly RunState[]
  const state = STATES.find((known) => known === text)
  if (state) return [state]
  const known = [...STATES, ...Object.keys(STATE_WORDS)].join(', ')
  throw wrong(field, `has the state "${shown(text)}"; states are ${known}`)
}

function readCause(text: string, field: string): Cause {
  const cause = CAUSES.find((known) => known === text)
  if (cause) return cause
  throw wrong(field, `has the cause "${shown(text)}"; causes are ${CAUSES.join(', ')}`)
}

function readYesNo(text: string, field: string): boolean {
  if (text === 'yes' || text === 'no') return text === 'yes'
  throw wrong(field, `has "steps:${shown(text)}"; it is steps:yes or steps:no`)
}

/** `24h` is that long ago; any other text is a time in the format of all commands. */
function readInstant(value: string, now: number, field: string): number {
  const text = unquoted(value)
  // Unlike schedules, both reach far into the past.
  if (INSTANT.test(text)) return parseTime(text, field)
  if (DURATION.test(text)) return now - parseDuration(text, field)
  try {
    return readWhen(text, { now, zone: 'UTC', direction: 'past' }, field)
  } catch (error) {
    if (!(error instanceof PunctualError)) throw error
    throw new PunctualError('invalid_field', error.message, { field, hint: error.hint })
  }
}

function splitValues(text: string): string[] {
  return text.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/).map(unquoted)
}

/** Whether a text matches one of the patterns, in which `*` stands for any characters, or none. */
export function matchesAny(text: string, patterns: readonly string[] | null): boolean {
  return patterns === null || patterns.some((pattern) => matches(text, pattern))
}

/**
 * Matches each part at its earliest position. This is sufficient with `*` as the only wildcard, and no pattern can
 * make it slow.
 */
function matches(text: string, pattern: string): boolean {
  const pieces = pattern.split('*')
  const first = pieces[0] as string
  if (pieces.length === 1) return text === pattern
  const last = pieces.at(-1) as string
  if (!text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return at + last.length <= text.length
}

function unknownKey(key: string, field: string): PunctualError {
  return wrong(field, `has the unknown key "${shown(key)}"; keys are ${KEYS.join(', ')}`)
}

function shown(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}

function wrong(field: string, what: string): PunctualError {
  return new PunctualError('invalid_field', `${field} ${what}`, { field })
}
