import { type OutputMarker, MARKER_BYTES, markerOf } from '../../core/text/markers.ts'
import { textOf } from '../../core/run/output.ts'

const COLON = 0x3a
const NEWLINE = 10
const NEXT = Buffer.from('\n::')
const NOTHING = Buffer.alloc(0)

/**
 * Finds markers in a stream of any pieces. It also scans output beyond the output limit; it buffers
 * only the beginning of a line that may be a marker.
 */
export class MarkScan {
  readonly #onMark: (mark: OutputMarker) => void
  /** The beginning of a line that may be a marker. */
  #line: Buffer | undefined = NOTHING

  constructor(onMark: (mark: OutputMarker) => void) {
    this.#onMark = onMark
  }

  push(bytes: Buffer): void {
    let at = this.#line ? this.#extend(this.#line, bytes) : 0
    while (at < bytes.length) {
      const found = bytes.indexOf(NEXT, at)
      if (found < 0) break
      at = this.#extend(NOTHING, bytes, found + 1)
    }
    if (at < bytes.length) this.#line = beginningAt(bytes, at)
  }

  /** Ends the stream; a line without its newline may be a marker, too. */
  end(): void {
    if (this.#line) this.#read(this.#line)
    this.#line = undefined
  }

  /** Extends a line that may be a marker. Returns the index of the newline after it. */
  #extend(line: Buffer, bytes: Buffer, from = 0): number {
    const newline = bytes.indexOf(NEWLINE, from)
    const end = newline < 0 ? bytes.length : newline
    const bytesLeft = Math.max(0, MARKER_BYTES - line.length)
    const more = bytes.subarray(from, Math.min(end, from + bytesLeft))
    const whole = line.length === 0 ? more : Buffer.concat([line, more])
    const isCandidate = couldBeMark(whole)
    if (newline < 0) {
      this.#line = isCandidate ? Buffer.from(whole) : undefined
      return bytes.length
    }
    if (isCandidate) this.#read(whole)
    this.#line = newline === bytes.length - 1 ? NOTHING : undefined
    // The newline may precede the next marker.
    return newline === bytes.length - 1 ? bytes.length : newline
  }

  #read(line: Buffer): void {
    const mark = markerOf(textOf(line))
    if (mark) this.#onMark(mark)
  }
}

function couldBeMark(line: Buffer): boolean {
  return (line[0] ?? COLON) === COLON && (line[1] ?? COLON) === COLON
}

/** The end of a piece, if it may be the beginning of a marker. */
function beginningAt(bytes: Buffer, at: number): Buffer | undefined {
  const newline = bytes.lastIndexOf(NEWLINE)
  if (newline < at) return undefined
  const line = bytes.subarray(newline + 1)
  return line.length < 2 && couldBeMark(line) ? Buffer.from(line) : undefined
}
