import { RuleError } from '../rule/rule-error.ts'
import { readMonths } from './month-phrase.ts'
import { ordinalNamed } from './vocabulary.ts'
import { monthNamed, weekdayNamed } from '../calendar/calendar-names.ts'
import type { WordReader } from './word-reader.ts'

/** Days as items of cron fields. */
export interface DayItems {
  dates: string[]
  weekdays: string[]
  months: number[]
}

/** Reads a phrase that names days, if one comes next. */
export function readDayPhrase(words: WordReader, days: DayItems): boolean {
  if (words.peek() === 'weekday' && words.peek(1) === 'nearest') return readDatesOf(words, days)
  if (words.accept('weekday', 'weekdays', 'workday', 'workdays')) {
    days.weekdays.push('1-5')
    return true
  }
  if (words.accept('weekend', 'weekends')) {
    days.weekdays.push('0', '6')
    return true
  }
  if (words.accept('day', 'days')) return true
  if (weekdayNamed(words.peek()) !== undefined) return readWeekdays(words, days)
  const beginsDates = ordinalNamed(words.peek()) !== undefined || /^\d+$/.test(words.peek()!)
  return beginsDates && readDatesOf(words, days)
}

/** `monday`, `monday to friday`, and lists with `and`. */
function readWeekdays(words: WordReader, days: DayItems): true {
  const from = weekdayNamed(words.take())!
  if (!words.acceptBefore('to', (word) => weekdayNamed(word) !== undefined)) {
    days.weekdays.push(String(from))
    return true
  }
  const to = weekdayNamed(words.take())!
  for (let day = from; day !== to; day = (day + 1) % 7) days.weekdays.push(String(day))
  days.weekdays.push(String(to))
  return true
}

/** `the 1st and 15th of the month`, `the last friday of march`, `the first weekday of the month`. */
function readDatesOf(words: WordReader, days: DayItems): true {
  do readDates(words, days)
  while (words.acceptBefore('and', (word) => beginsDate(word, words)))
  if (!words.accept('of', 'in')) {
    throw new RuleError(
      'every',
      'it does not say of which month',
      'Write of the month, or of march.',
    )
  }
  words.accept('the', 'every', 'each')
  if (words.accept('month')) return true
  if (words.accept('quarter')) days.months.push(1, 4, 7, 10)
  else if (monthNamed(words.peek()) !== undefined) days.months.push(...readMonths(words))
  else throw words.notUnderstood()
  return true
}

function beginsDate(word: string, words: WordReader): boolean {
  if (ordinalNamed(word) !== undefined) return true
  const distance = words.peek(1) === 'the' ? 2 : 1
  if (/^\d+$/.test(word)) return words.peek(distance + 1)?.startsWith('day') ?? false
  return word === 'weekday' && words.peek(distance + 1) === 'nearest'
}

function readDates(words: WordReader, days: DayItems): void {
  if (words.accept('weekday')) {
    words.accept('nearest')
    words.accept('to')
    words.accept('the')
    const isBack = /^\d+$/.test(words.peek() ?? '')
    days.dates.push(`${isBack ? readBack(words) : readDate(words)}W`)
    return
  }
  if (/^\d+$/.test(words.peek() ?? '')) {
    days.dates.push(readBack(words))
    return
  }
  const ordinals = [ordinalNamed(words.take())!]
  while (words.acceptBefore('and', (word) => ordinalNamed(word) !== undefined)) {
    ordinals.push(ordinalNamed(words.take())!)
  }
  const weekday = weekdayNamed(words.peek())
  if (weekday !== undefined) {
    words.take()
    for (const one of ordinals) days.weekdays.push(nthWeekday(weekday, one))
  } else if (words.accept('weekday', 'workday')) {
    for (const one of ordinals) days.dates.push(workingDay(one))
  } else {
    words.accept('day', 'days')
    for (const one of ordinals) days.dates.push(one === 'last' ? 'L' : date(one))
  }
}

/** `3 days before the last day`. */
function readBack(words: WordReader): string {
  const count = Number(words.take())
  const isBefore = words.accept('day', 'days') && words.accept('before')
  words.accept('the')
  if (!isBefore || !words.accept('last')) throw words.notUnderstood()
  words.accept('day')
  if (count > 30) throw new RuleError('every', `no month has ${count} days before its last day`)
  return count === 0 ? 'L' : `L-${count}`
}

function readDate(words: WordReader): string {
  const one = ordinalNamed(words.peek())
  if (one === undefined || one === 'last') throw words.notUnderstood()
  words.take()
  return date(one)
}

function date(number: number): string {
  if (number >= 1 && number <= 31) return String(number)
  throw new RuleError('every', `no month has ${number} days`, 'Days are the 1st to the 31st.')
}

function nthWeekday(weekday: number, one: number | 'last'): string {
  if (one === 'last') return `${weekday}L`
  if (one >= 1 && one <= 5) return `${weekday}#${one}`
  throw new RuleError(
    'every',
    `no weekday comes ${one} times in a month`,
    'Say first to fifth, or last.',
  )
}

function workingDay(one: number | 'last'): string {
  if (one === 'last') return 'LW'
  if (one === 1) return '1W'
  throw new RuleError('every', 'only the first and the last weekday of a month can be named')
}
