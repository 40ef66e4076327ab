/** Why a rule is not taken: which field, what is wrong with it, and what would be right. */
export interface Problem {
  readonly field: string
  readonly message: string
  readonly hint?: string
}

/** Thrown by readers and caught by `readRule`, which is the only one to answer with it. */
export class Refusal extends Error {
  readonly field: string
  readonly hint: string | undefined

  constructor(field: string, message: string, hint?: string) {
    super(message)
    this.name = 'Refusal'
    this.field = field
    this.hint = hint
  }
}

/** What somebody wrote, short enough to stand in a message, and nothing a terminal would obey. */
export function quoted(text: string): string {
  const plain = text.slice(0, 40).replaceAll(/[^\x20-\x7e]/gu, codeOf)
  return `"${plain}${text.length > 40 ? '…' : ''}"`
}

/** `U+0663`: what a character is called that had better not be shown. */
export function codeOf(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
}

/** The word somebody may have meant: off by a letter or two, or `undefined`. */
export function nearest(word: string, words: readonly string[]): string | undefined {
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
