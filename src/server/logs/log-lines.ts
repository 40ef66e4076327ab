import { markOf } from '../../core/text/markers.ts'
import type { Entry, Stream } from '../../core/run/output.ts'
import type { WireLogLine } from '../../core/wire/views.ts'
import { formatTime } from '../../core/wire/runs.ts'

export const STREAMS: Readonly<Record<Stream, WireLogLine['stream']>> = {
  0: 'punctual',
  1: 'stdout',
  2: 'stderr',
}

/** A line or a piece of one, in the order in which they were printed. */
export interface LinePiece {
  readonly line: number
  readonly ms: number
  readonly stream: Stream
  readonly text: string
}

/**
 * Entries as lines, numbered as `countLines` counts them: every newline ends one. A line without
 * its newline carries the number that its end will have.
 */
export function* piecesOf(entries: readonly Entry[], firstLine: number): Generator<LinePiece> {
  let line = firstLine
  for (const [ms, stream, text] of entries) {
    let start = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      yield { line, ms, stream, text: text.slice(start, end) }
      line += 1
      start = end + 1
    }
    if (start < text.length) yield { line, ms, stream, text: text.slice(start) }
  }
}

/** Ends of lines, whichever stream they are of: what a person would number. */
export function countLines(entries: readonly Entry[]): number {
  let lines = 0
  for (const [, , text] of entries) {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1
  }
  return lines
}

/** Of one line this much is shown; a download has the rest. */
export const LINE_LENGTH = 64 * 1024
/** A page is full with this much, however few lines it takes. */
export const PAGE_LENGTH = 2 * 1024 * 1024

/** Lines put together from the pieces in which they were printed, as far as one page goes. */
export class LinePage {
  readonly #limit: number
  #lines: LinePiece[] = []
  readonly #cut = new Set<number>()
  #length = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** False when the page is full, and this piece belongs to the next. */
  add(piece: LinePiece): boolean {
    const last = this.#lines.at(-1)
    const isSameLine = last?.line === piece.line
    const isFull = this.#lines.length >= this.#limit || this.#length >= PAGE_LENGTH
    if (isFull && !isSameLine) return false
    const before = isSameLine && last.stream === piece.stream ? last.text : undefined
    const text = (before ?? '') + piece.text.slice(0, LINE_LENGTH)
    if (text.length > LINE_LENGTH || piece.text.length > LINE_LENGTH) this.#cut.add(piece.line)
    const shown = text.slice(0, LINE_LENGTH)
    this.#length += shown.length - (before?.length ?? 0)
    if (before === undefined) this.#lines.push({ ...piece, text: shown })
    else this.#lines[this.#lines.length - 1] = { ...last!, text: shown }
    return true
  }

  /** The line at the end, if the rest of it need not be read. */
  get cutLine(): number | undefined {
    const line = this.#lines.at(-1)?.line
    return line !== undefined && this.#cut.has(line) ? line : undefined
  }

  shown(startedAt: number): WireLogLine[] {
    return this.#lines.map(({ line, ms, stream, text }) => {
      const mark = stream === 0 ? undefined : markOf(text)
      return {
        line,
        at: formatTime(startedAt + ms, 'at'),
        stream: STREAMS[stream],
        text,
        ...(mark && { mark }),
        ...(this.#cut.has(line) && { cut: true }),
      }
    })
  }
}
