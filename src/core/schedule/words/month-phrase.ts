import { RuleError } from '../rule/rule-error.ts'
import { monthNamed } from '../calendar/calendar-names.ts'
import type { WordReader } from './word-reader.ts'

/** `january`, `january and july`, `march to may`. */
export function readMonths(words: WordReader): number[] {
  const months: number[] = []
  do {
    const month = monthNamed(words.peek())
    if (month === undefined) throw words.notUnderstood()
    words.take()
    const last = words.acceptBefore('to', (word) => monthNamed(word) !== undefined)
      ? monthNamed(words.take())!
      : month
    if (last < month) {
      throw new RuleError('every', 'its months run backwards', 'List them with commas.')
    }
    for (let one = month; one <= last; one++) months.push(one)
  } while (words.acceptBefore('and', (word) => monthNamed(word) !== undefined))
  return months
}
