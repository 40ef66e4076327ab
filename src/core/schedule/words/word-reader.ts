import { codePointName, nearestWord, excerptOf, RuleError } from '../rule/rule-error.ts'
import { KNOWN_WORDS } from './vocabulary.ts'

const MAX_LENGTH = 1_000
const EXAMPLES =
  'Write 5m, weekdays at 09:05, every 15 minutes between 08:00 and 18:00, or last friday of the month at 17:00.'

/** Reads the words of a sentence one after the other. */
export class WordReader {
  readonly #words: readonly string[]
  #at = 0

  constructor(text: string) {
    this.#words = splitWords(text)
  }

  peek(ahead = 0): string | undefined {
    return this.#words[this.#at + ahead]
  }

  take(): string | undefined {
    return this.#words[this.#at++]
  }

  /** Takes the next word if it is one of these. */
  accept(...words: readonly string[]): boolean {
    const isThere = words.includes(this.peek() ?? '')
    if (isThere) this.#at++
    return isThere
  }

  /** Takes the next word only if the word after it belongs to the same list; articles are ignored. */
  acceptBefore(word: string, isMember: (next: string) => boolean): boolean {
    if (this.peek() !== word) return false
    const distance = this.peek(1) === 'the' ? 2 : 1
    if (!isMember(this.peek(distance) ?? '')) return false
    this.#at += distance
    return true
  }

  /** An error about the next word, or about the unexpected end. */
  notUnderstood(): RuleError {
    const word = this.peek()
    if (word === undefined) return new RuleError('every', 'it ends too early', EXAMPLES)
    const near = /^[a-z]{3,}$/.test(word) ? nearestWord(word, KNOWN_WORDS) : undefined
    const hint = near === undefined || near === word ? EXAMPLES : `Did you mean ${near}?`
    return new RuleError('every', `${excerptOf(word)} is not understood here`, hint)
  }
}

/** Lower case, with commas as words and ranges such as mon-fri split. */
function splitWords(text: string): string[] {
  if (text.length > MAX_LENGTH) {
    throw new RuleError(
      'every',
      `it has ${text.length} characters; at most ${MAX_LENGTH} are allowed`,
    )
  }
  const foreign = /[^\x20-\x7e]/u.exec(text)?.[0]
  if (foreign !== undefined) {
    throw new RuleError(
      'every',
      `the character ${codePointName(foreign)} is not allowed in it`,
      EXAMPLES,
    )
  }
  const words = text
    .toLowerCase()
    .replaceAll(/[,&]/g, ' and ')
    .replaceAll(/([a-z])-([a-z])/g, '$1 to $2')
    .replaceAll(/(\d) +(am|pm)\b/g, '$1$2')
    .split(' ')
    .filter((word) => word !== '')
  if (words.length === 0) throw new RuleError('every', 'it is empty', EXAMPLES)
  return words.filter((word, index) => word !== 'and' || words[index + 1] !== 'and')
}
