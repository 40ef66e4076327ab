import { YEAR_UNIT } from '../cron/cron-units.ts'
import { RuleError } from '../rule/rule-error.ts'
import type { WordReader } from './word-reader.ts'

const YEAR = /^\d{4}$/

export function isYear(word: string | undefined): boolean {
  return YEAR.test(word ?? '')
}

/** `2027`, `2027 and 2029`, `2026 to 2030`. */
export function readYears(words: WordReader): number[] {
  const years: number[] = []
  do {
    const first = requireYear(words)
    const last = words.acceptBefore('to', isYear) ? requireYear(words) : first
    if (last < first) {
      throw new RuleError('every', 'its years run backwards', 'List them with commas.')
    }
    for (let year = first; year <= last; year++) years.push(year)
  } while (words.acceptBefore('and', isYear))
  return years
}

function requireYear(words: WordReader): number {
  const year = Number(words.take())
  const { first, last } = YEAR_UNIT
  if (year >= first && year <= last) return year
  throw new RuleError('every', `${year} is not a year from ${first} to ${last}`)
}
