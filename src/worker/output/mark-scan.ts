import { type Mark, MARK_BYTES, markOf } from '../../core/text/markers.ts'
import { textOf } from '../../core/run/output.ts'

const COLON = 0x3a
const NEWLINE = 10
const NEXT = Buffer.from('\n::')
const NOTHING = Buffer.alloc(0)

/**
 * Finds markers in a stream, in whatever pieces it comes. Everything is looked at, also what is too
 * much to be kept; of a line that may be one, its beginning is remembered and nothing else.
 */
export class MarkScan {
  readonly #onMark: (mark: Mark) => void
  /** The line that may be a marker, as far as it has come. */
  #line: Buffer | undefined = NOTHING

  constructor(onMark: (mark: Mark) => void) {
    this.#onMark = onMark
  }

  push(bytes: Buffer): void {
    let at = this.#line ? this.#goOn(this.#line, bytes) : 0
    while (at < bytes.length) {
      const found = bytes.indexOf(NEXT, at)
      if (found < 0) break
      at = this.#goOn(NOTHING, bytes, found + 1)
    }
    if (at < bytes.length) this.#line = beginningAt(bytes, at)
  }

  /** Nothing more comes; a line without its newline is one, too. */
  end(): void {
    if (this.#line) this.#read(this.#line)
    this.#line = undefined
  }

  /** Adds to a line that may be a marker. Returns where its end is: the newline after it. */
  #goOn(line: Buffer, bytes: Buffer, from = 0): number {
    const newline = bytes.indexOf(NEWLINE, from)
    const end = newline < 0 ? bytes.length : newline
    const room = Math.max(0, MARK_BYTES - line.length)
    const more = bytes.subarray(from, Math.min(end, from + room))
    const whole = line.length === 0 ? more : Buffer.concat([line, more])
    const isOne = mayBeMark(whole)
    if (newline < 0) {
      this.#line = isOne ? Buffer.from(whole) : undefined
      return bytes.length
    }
    if (isOne) this.#read(whole)
    this.#line = newline === bytes.length - 1 ? NOTHING : undefined
    // What comes after the newline may be the next.
    return newline === bytes.length - 1 ? bytes.length : newline
  }

  #read(line: Buffer): void {
    const mark = markOf(textOf(line))
    if (mark) this.#onMark(mark)
  }
}

function mayBeMark(line: Buffer): boolean {
  return (line[0] ?? COLON) === COLON && (line[1] ?? COLON) === COLON
}

/** What a piece ends with, if that may be the beginning of a marker. */
function beginningAt(bytes: Buffer, at: number): Buffer | undefined {
  const newline = bytes.lastIndexOf(NEWLINE)
  if (newline < at) return undefined
  const line = bytes.subarray(newline + 1)
  return line.length < 2 && mayBeMark(line) ? Buffer.from(line) : undefined
}
