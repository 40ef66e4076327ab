import { readTime } from '../calendar/times-of-day.ts'
import { excerptOf, RuleError } from '../rule/rule-error.ts'
import { readDayPhrase, type DayItems } from './day-phrase.ts'
import { readMonths } from './month-phrase.ts'
import { WordReader } from './word-reader.ts'
import { isYear, readYears } from './year-phrase.ts'

/** The parts of a parsed sentence, in the order of the text. */
export interface Sentence extends DayItems {
  interval: { count: number; unit: 'second' | 'minute' | 'hour' } | undefined
  /** Start and end of the window of the interval, as seconds of the day. */
  window: readonly [from: number, to: number] | undefined
  /** Seconds of the day. */
  times: number[]
  /** Minutes of the hours of an interval. */
  minutes: number[]
  /** Empty for all years. */
  years: number[]
  /** Whether a day without a time begins at midnight: `daily`, `every month`. */
  meansMidnight: boolean
}

const NUMBER = /^\d{1,4}$/
const FILLERS = new Set(['on', 'and', 'or', 'each', 'the'])
/** Period words, with the days on which each period begins. */
const PERIODS: Readonly<Record<string, Partial<Sentence>>> = {
  day: {},
  week: { weekdays: ['0'] },
  month: { dates: ['1'] },
  quarter: { dates: ['1'], months: [1, 4, 7, 10] },
  year: { dates: ['1'], months: [1] },
}
const ADVERBS: Readonly<Record<string, string>> = {
  hourly: 'hour',
  daily: 'day',
  weekly: 'week',
  monthly: 'month',
  quarterly: 'quarter',
  yearly: 'year',
}

export function readSentence(text: string): Sentence {
  const words = new WordReader(text)
  const sentence: Sentence = {
    interval: undefined,
    window: undefined,
    times: [],
    minutes: [],
    dates: [],
    weekdays: [],
    months: [],
    years: [],
    meansMidnight: false,
  }
  let period: Partial<Sentence> | undefined
  while (words.peek() !== undefined) {
    if (words.accept('at')) readAt(words, sentence)
    else if (words.accept('between', 'from')) sentence.window = readWindow(words)
    else if (words.accept('in')) {
      if (isYear(words.peek())) sentence.years.push(...readYears(words))
      else sentence.months.push(...readMonths(words))
    } else if (words.accept('every') || isCount(words))
      period = readEvery(words, sentence) ?? period
    else if (Object.hasOwn(ADVERBS, words.peek()!)) {
      period = readUnit(ADVERBS[words.take()!]!, 1, sentence)
    } else if (readDayPhrase(words, sentence)) continue
    else if (FILLERS.has(words.peek()!)) words.take()
    else throw words.notUnderstood()
  }
  if (period) beginPeriod(period, sentence)
  return sentence
}

/** Adds the first days of a period, unless the sentence names other days. */
function beginPeriod(
  { dates = [], weekdays = [], months = [] }: Partial<Sentence>,
  sentence: Sentence,
) {
  sentence.meansMidnight = true
  if (sentence.dates.length + sentence.weekdays.length > 0) return
  sentence.dates.push(...dates)
  sentence.weekdays.push(...weekdays)
  if (sentence.months.length === 0) sentence.months.push(...months)
}

/** Reads the words after `every`: a number with a unit, or a unit. Days are left to the next step. */
function readEvery(words: WordReader, sentence: Sentence): Partial<Sentence> | undefined {
  if (NUMBER.test(words.peek() ?? '')) {
    const count = Number(words.take())
    const unit = words.peek()?.replace(/s$/, '')
    if (unit === undefined || !isUnit(unit)) throw words.notUnderstood()
    words.take()
    return readUnit(unit, count, sentence)
  }
  const unit = words.peek()
  // `every second tuesday` is not an interval of seconds.
  const isOrdinal =
    unit === 'second' && words.peek(1) !== undefined && !isIntervalEnd(words.peek(1)!)
  if (unit === undefined) throw words.notUnderstood()
  if (isOrdinal || !isUnit(unit)) return undefined
  words.take()
  return readUnit(unit, 1, sentence)
}

function isUnit(word: string): boolean {
  return isClockUnit(word) || Object.hasOwn(PERIODS, word)
}

/** `5 minutes` without `every`. */
function isCount(words: WordReader): boolean {
  return NUMBER.test(words.peek()!) && isClockUnit(words.peek(1)?.replace(/s$/, ''))
}

function isIntervalEnd(word: string): boolean {
  return ['on', 'in', 'between', 'from', 'at'].includes(word)
}

function isClockUnit(unit: string | undefined): unit is 'second' | 'minute' | 'hour' {
  return unit === 'second' || unit === 'minute' || unit === 'hour'
}

function readUnit(unit: string, count: number, sentence: Sentence): Partial<Sentence> | undefined {
  if (isClockUnit(unit)) {
    if (count === 0) throw new RuleError('every', `every 0 ${unit}s is not possible`)
    if (sentence.interval)
      throw new RuleError('every', 'it has two intervals', 'Make it two rules.')
    sentence.interval = { count, unit }
    return undefined
  }
  if (unit !== undefined && Object.hasOwn(PERIODS, unit)) {
    if (count === 1) return PERIODS[unit]
    const hint =
      unit === 'day' || unit === 'week' ? `Write ${count}${unit[0]}.` : 'Name the months.'
    throw new RuleError('every', `${count} ${unit}s have no fixed starting point`, hint)
  }
  throw new RuleError(
    'every',
    `${excerptOf(unit ?? '')} is not a unit of time`,
    'Write 15 minutes.',
  )
}

function readAt(words: WordReader, sentence: Sentence): void {
  if (words.accept('minute', 'minutes')) {
    do sentence.minutes.push(readMinute(words))
    while (words.acceptBefore('and', (word) => /^\d+$/.test(word)))
    return
  }
  do sentence.times.push(requireTime(words))
  while (words.acceptBefore('and', (word) => readTime(word) !== undefined))
}

function readMinute(words: WordReader): number {
  const word = words.take() ?? ''
  if (/^\d{1,2}$/.test(word) && Number(word) < 60) return Number(word)
  throw new RuleError('every', `${excerptOf(word)} is not a minute`, 'Minutes are 0 to 59.')
}

function readWindow(words: WordReader): [from: number, to: number] {
  const from = requireTime(words)
  if (!words.accept('and', 'to', 'until', 'till')) throw words.notUnderstood()
  return [from, requireTime(words)]
}

function requireTime(words: WordReader): number {
  const word = words.take() ?? ''
  const time = readTime(word)
  if (time !== undefined) return time
  const hint = /^\d{1,2}$/.test(word) ? `Write ${word.padStart(2, '0')}:00.` : 'Write it as 09:05.'
  throw new RuleError('every', `${excerptOf(word)} is not a time of the day`, hint)
}
