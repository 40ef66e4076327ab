import { markerOf } from '../../core/text/markers.ts'
import type { OutputEntry, Stream } from '../../core/run/output.ts'
import type { WireLogLine } from '../../core/wire/views.ts'
import { formatTime } from '../../core/wire/runs.ts'

export const STREAMS: Readonly<Record<Stream, WireLogLine['stream']>> = {
  0: 'punctual',
  1: 'stdout',
  2: 'stderr',
}

/** A line or a piece of one, in the order of output. */
export interface LinePiece {
  readonly line: number
  readonly ms: number
  readonly stream: Stream
  readonly text: string
}

/**
 * Entries as lines, numbered as `countLines` counts them: every newline ends one. An unfinished
 * line has the number that its end will have.
 */
export function* piecesOf(
  entries: readonly OutputEntry[],
  firstLine: number,
): Generator<LinePiece> {
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

/** Number of line ends in all streams, as a reader would number them. */
export function countLines(entries: readonly OutputEntry[]): number {
  let lines = 0
  for (const [, , text] of entries) {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1
  }
  return lines
}

/** Maximum shown length of one line; a download has the rest. */
export const MAX_LINE_LENGTH = 64 * 1024
/** Maximum length of a page, however few lines that is. */
export const MAX_PAGE_LENGTH = 2 * 1024 * 1024

/** Lines assembled from the printed pieces, up to the size of one page. */
export class LinePage {
  readonly #limit: number
  #lines: LinePiece[] = []
  readonly #cut = new Set<number>()
  #length = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** False when the page is full and this piece belongs to the next one. */
  add(piece: LinePiece): boolean {
    const last = this.#lines.at(-1)
    const isSameLine = last?.line === piece.line
    const isFull = this.#lines.length >= this.#limit || this.#length >= MAX_PAGE_LENGTH
    if (isFull && !isSameLine) return false
    const before = isSameLine && last.stream === piece.stream ? last.text : undefined
    const text = (before ?? '') + piece.text.slice(0, MAX_LINE_LENGTH)
    if (text.length > MAX_LINE_LENGTH || piece.text.length > MAX_LINE_LENGTH)
      this.#cut.add(piece.line)
    const shown = text.slice(0, MAX_LINE_LENGTH)
    this.#length += shown.length - (before?.length ?? 0)
    if (before === undefined) this.#lines.push({ ...piece, text: shown })
    else this.#lines[this.#lines.length - 1] = { ...last!, text: shown }
    return true
  }

  /** The last line, if the rest of it need not be read. */
  get cutLine(): number | undefined {
    const line = this.#lines.at(-1)?.line
    return line !== undefined && this.#cut.has(line) ? line : undefined
  }

  get length(): number {
    return this.#lines.length
  }

  /** The lines of the page, or a part of them. */
  shown(startedAt: number, from = 0, to = this.#lines.length): WireLogLine[] {
    return this.#lines.slice(from, to).map(({ line, ms, stream, text }) => {
      const mark = stream === 0 ? undefined : markerOf(text)
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
