// oxlint-disable-next-line no-control-regex -- matches colour codes
const PAINT = /\u001B\[\d+m/g
const NARROW = /^[\u0020-\u02FF]*$/
const MARK = /\p{Mark}|\u200D|\uFE0F/u
/** Characters that take two columns: East Asian ones and emoji. */
const WIDE =
  /[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation}/u

/** The number of columns a text takes. */
export function widthOf(text: string): number {
  const plain = text.replaceAll(PAINT, '')
  if (NARROW.test(plain)) return plain.length
  return [...plain].reduce((sum, letter) => sum + widthOfLetter(letter), 0)
}

/** Cuts a text to a width; a text that is cut loses its colours. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  const [head] = split(text.replaceAll(PAINT, ''), width - 1)
  return `${head}…`
}

/** Wraps a text into lines, between words where possible. */
export function wrap(text: string, width: number): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) as string
    const longer = line === '' ? word : `${line} ${word}`
    if (widthOf(longer) <= width) lines[lines.length - 1] = longer
    else lines.push(...broken(word, width))
  }
  return lines[0] === '' ? lines.slice(1) : lines
}

function broken(word: string, width: number): string[] {
  if (widthOf(word) <= width) return [word]
  const [head, rest] = split(word, width)
  // Not even one character fits: leave the break to the terminal.
  return head === '' ? [word] : [head, ...broken(rest, width)]
}

function split(text: string, width: number): [head: string, rest: string] {
  let head = ''
  let taken = 0
  for (const letter of text) {
    taken += widthOfLetter(letter)
    if (taken > width) break
    head += letter
  }
  return [head, text.slice(head.length)]
}

function widthOfLetter(letter: string): number {
  if (MARK.test(letter)) return 0
  return WIDE.test(letter) ? 2 : 1
}
