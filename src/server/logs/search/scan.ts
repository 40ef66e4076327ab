import { type OutputEntry, type Stream, textOf } from '../../../core/run/output.ts'
import { stripAnsiText } from '../ansi.ts'
import { entriesOf, type Unpacked } from '../chunk-pack.ts'
import { endsLines } from '../trigrams.ts'
import type { Matcher } from './pattern.ts'

/** A line is searched in pieces of this size, each overlapping the previous one. */
const WINDOW_LENGTH = 64 * 1024
/** The length of the longest text that can be searched. */
const OVERLAP_LENGTH = 1_024
/** Only this much of one line is searched. */
const LINE_LENGTH = 16 * 1024 * 1024
/** How much of a line is shown, and how much of it before the hit. */
const SHOWN_LENGTH = 500
const BEFORE_LENGTH = 100

export interface Hit {
  readonly line: number
  readonly ms: number
  readonly stream: Stream
  readonly column: number
  readonly length: number
  readonly text: string
  readonly textColumn: number
}

/** The beginning of a line whose end is in a later chunk. */
export interface OpenLine {
  readonly stream: Stream
  readonly ms: number
  /** The text not searched yet, and its offset in the line. */
  readonly text: string
  readonly column: number
  /** The rest is not needed: the line has a hit, or is too long. */
  readonly isDone: boolean
}

export interface Scanned {
  readonly hits: readonly Hit[]
  readonly open: readonly OpenLine[]
  readonly nextLine: number
}

export interface ScanRange {
  /** Earlier lines are skipped. */
  readonly from: number
  readonly limit: number
}

/** Searches a chunk line by line: a line has at most one hit, its first. */
export function scanChunk(
  chunk: Unpacked,
  firstLine: number,
  { open, span, matcher }: { open: readonly OpenLine[]; span: ScanRange; matcher: Matcher },
): Scanned {
  if (open.length === 0 && endsLines(chunk) && !mayOccur(chunk, matcher)) {
    return { hits: [], open: [], nextLine: firstLine + newlinesIn(chunk.body) }
  }
  const lines = new Lines(open, span, matcher)
  const nextLine = lines.add(entriesOf(chunk), firstLine)
  return { hits: lines.hits, open: lines.open(), nextLine }
}

/** At the end of the log, an unfinished line counts as a line, too. */
export function scanRest(
  open: readonly OpenLine[],
  line: number,
  { span, matcher }: { span: ScanRange; matcher: Matcher },
): readonly Hit[] {
  const lines = new Lines(open, span, matcher)
  for (const { stream } of open) lines.end(stream, line)
  return lines.hits
}

class Lines {
  readonly hits: Hit[] = []
  readonly #span: ScanRange
  readonly #matcher: Matcher
  readonly #open: Map<Stream, OpenLine>

  constructor(open: readonly OpenLine[], span: ScanRange, matcher: Matcher) {
    this.#span = span
    this.#matcher = matcher
    this.#open = new Map(open.map((line) => [line.stream, line]))
  }

  open(): OpenLine[] {
    return [...this.#open.values()]
  }

  add(entries: readonly OutputEntry[], firstLine: number): number {
    let number = firstLine
    for (const [ms, stream, text] of entries) {
      let start = 0
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
        this.#extend(stream, ms, text.slice(start, end), number)
        this.end(stream, number)
        number += 1
        start = end + 1
      }
      if (start < text.length) this.#extend(stream, ms, text.slice(start), number)
    }
    return number
  }

  end(stream: Stream, number: number): void {
    const line = this.#open.get(stream)
    this.#open.delete(stream)
    if (line && !line.isDone) this.#search({ ...line, text: line.text.replace(/\r$/, '') }, number)
  }

  #extend(stream: Stream, ms: number, text: string, number: number): void {
    const before = this.#open.get(stream) ?? { stream, ms, text: '', column: 0, isDone: false }
    if (before.isDone) return
    let line: OpenLine = { ...before, text: before.text + text }
    if (line.text.length > WINDOW_LENGTH) {
      const isFound = this.#search(line, number)
      const column = line.column + line.text.length - OVERLAP_LENGTH
      line = { ...line, text: line.text.slice(-OVERLAP_LENGTH), column }
      if (isFound || column > LINE_LENGTH) line = { ...line, text: '', isDone: true }
    }
    this.#open.set(stream, line)
  }

  #search({ stream, ms, text, column }: OpenLine, number: number): boolean {
    if (number < this.#span.from || this.hits.length >= this.#span.limit) return false
    const line = stripAnsiText(text)
    const found = this.#matcher.find(line)
    if (!found) return false
    const { index, length } = found
    const start = Math.max(0, index - BEFORE_LENGTH)
    this.hits.push({
      line: number,
      ms,
      stream,
      length,
      column: column + index,
      text: line.slice(start, start + SHOWN_LENGTH),
      textColumn: column + start,
    })
    return true
  }
}

/** Tests the same text as the search: a chunk skipped by mistake would lose its hits. */
function mayOccur({ body }: Unpacked, matcher: Matcher): boolean {
  return matcher.mayOccur(stripAnsiText(textOf(body).replaceAll('\r\n', '\n')))
}

function newlinesIn(body: Buffer): number {
  let count = 0
  for (let at = body.indexOf(NEWLINE); at >= 0; at = body.indexOf(NEWLINE, at + 1)) count += 1
  return count
}

const NEWLINE = 10
