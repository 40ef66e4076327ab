import { PunctualError } from '../../errors.ts'
import type { RuleSource } from './rule.ts'

/** Why a rule is rejected: the field, the problem, and a valid form. */
export interface RuleProblem {
  readonly field: string
  readonly message: string
  readonly hint?: string
}

/** Thrown by the readers; only `readRule` catches it and returns its problem. */
export class RuleError extends Error {
  readonly field: string
  readonly hint: string | undefined

  constructor(field: string, message: string, hint?: string) {
    super(message)
    this.name = 'Refusal'
    this.field = field
    this.hint = hint
  }
}

/** What to say of a rule that has no time left: the field that bounds it. */
export function pastRuleProblem({ at, end, cron }: RuleSource): RuleProblem {
  if (at !== undefined || end !== undefined) {
    const field = at === undefined ? 'end' : 'at'
    return { field, message: 'its last time is in the past', hint: 'Choose a future time.' }
  }
  const field = cron === undefined ? 'every' : 'cron'
  return { field, message: 'its last year is over', hint: 'Name a later year, or none.' }
}

/** A user's text, shortened for a message and without control characters. */
export function excerptOf(text: string): string {
  const ascii = text.slice(0, 40).replaceAll(/[^\x20-\x7e]/gu, codePointName)
  return `"${ascii}${text.length > 40 ? '…' : ''}"`
}

/** The code point of a character that should not be printed: `U+0663`. */
export function codePointName(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
}

/** The known word that differs by a letter or two; `undefined` if there is none. */
export function nearestWord(word: string, words: readonly string[]): string | undefined {
  let best: string | undefined
  let bestDistance = Math.min(2, Math.floor(word.length / 2)) + 1
  for (const candidate of words) {
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase())
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  return best
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}

/** An error about a schedule or a time; all of them share one code. */
export function scheduleError(field: string, message: string, hint?: string): PunctualError {
  const sentence = `${field}: ${message}`
  return new PunctualError('invalid_schedule', sentence, { field, ...(hint && { hint }) })
}
