import type { OutputMarker } from '../../core/text/markers.ts'
import { type OutputEntry, type OutputEnd, type Stream, textOf } from '../../core/run/output.ts'
import { MarkScan } from './mark-scan.ts'
import { OutputTail } from './output-tail.ts'
import { PartialLine } from './partial-line.ts'

/** Characters per chunk, safely below the server's limit. */
const CHUNK_LENGTH = 192 * 1024
const CHUNK_ENTRIES = 8_000
/** Characters that may travel inside the report of an attempt's end. */
const LAST_LENGTH = 32 * 1024
/** A line without an end is passed on in pieces of this size. */
const LINE_BYTES = 16 * 1024
/** Buffered characters at which reading stops, and at which it resumes. */
const PAUSE_LENGTH = 1024 * 1024
const RESUME_LENGTH = 256 * 1024
/**
 * Of output beyond the limit, at most this much of its end is kept, and no more than of its
 * beginning.
 */
const TAIL_BYTES = 64 * 1024

export interface OutputOptions {
  /** The maximum kept of one attempt: of more output, the beginning and the end. */
  readonly limitBytes: number
  /** There is something new to send, or a chunk was stored. */
  onChange(): void
  /** Output must pause: it is printed faster than the worker can send it. False: it may go on. */
  onBackpressure(isPaused: boolean): void
  /** The output contained a marker, possibly in a part that is not kept. */
  onMark?(mark: OutputMarker): void
}

/**
 * The output of an attempt on its way to the server: split into lines, cut into chunks, sent in
 * order, and kept until stored. Output beyond the limit is cut in the middle, with a note.
 */
export class Output {
  readonly #options: OutputOptions
  readonly #partial = { 1: new PartialLine(), 2: new PartialLine() }
  readonly #marks: Readonly<Record<1 | 2, MarkScan>>
  readonly #tail: OutputTail
  /** Bytes that may still be kept of the beginning. */
  #headLeft: number
  #ready: OutputEntry[] = []
  #length = 0
  #bytes = 0
  /** Chunks that the server has not stored yet. */
  #sending: (readonly OutputEntry[])[] = []
  #sendingLength = 0
  #stored = 0
  #isPaused = false
  #isEnded = false

  constructor(options: OutputOptions) {
    this.#options = options
    const { limitBytes } = options
    const tailBytes = Math.min(TAIL_BYTES, Math.floor(limitBytes / 2))
    this.#tail = new OutputTail(tailBytes)
    this.#headLeft = limitBytes - tailBytes
    const onMark = (mark: OutputMarker) => options.onMark?.(mark)
    this.#marks = { 1: new MarkScan(onMark), 2: new MarkScan(onMark) }
  }

  push(stream: 1 | 2, ms: number, bytes: Buffer): void {
    this.#bytes += bytes.length
    this.#marks[stream].push(bytes)
    const kept = Math.min(this.#headLeft, bytes.length)
    if (kept < bytes.length) this.#tail.push({ stream, ms, bytes: bytes.subarray(kept) })
    if (kept === 0) return
    this.#headLeft -= kept
    this.#addBytes(stream, ms, bytes.subarray(0, kept))
    this.#notify()
  }

  /** Adds unfinished lines as they are. */
  flush(ms: number): void {
    for (const stream of STREAMS) this.#add(ms, stream, this.#partial[stream].take(false))
    this.#notify()
  }

  /** Adds a line by the worker itself. */
  addWorkerLine(ms: number, text: string): void {
    this.#add(ms, 0, Buffer.from(`${text}\n`))
    this.#notify()
  }

  /** Ends the output. The rest is sent in chunks, except the last one. */
  end(ms: number): void {
    for (const stream of STREAMS) this.#marks[stream].end()
    const { dropped } = this.#tail
    if (dropped > 0) {
      this.#endLines(ms)
      this.#add(ms, 0, Buffer.from(`… ${dropped} bytes were left out here …\n`))
    }
    for (const piece of this.#tail.take()) this.#addBytes(piece.stream, piece.ms, piece.bytes)
    this.#endLines(ms)
    this.#isEnded = true
    this.#notify()
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Characters waiting to be sent. */
  get length(): number {
    return this.#length
  }

  /**
   * The chunks to send now, at least one and more as they fit; the same again until they are
   * stored.
   */
  next(mostLength = 0): readonly { chunk: number; entries: readonly OutputEntry[] }[] {
    while (this.#ready.length > 0 && !this.#isLast()) {
      const isFull = this.#sendingLength + CHUNK_LENGTH > mostLength
      if (isFull && this.#sending.length > 0) break
      const chunk = this.#nextChunk()
      this.#sending.push(chunk)
      this.#sendingLength += lengthOf(chunk)
    }
    return this.#sending.map((entries, index) => ({ chunk: this.#stored + index, entries }))
  }

  /** The server has stored this many chunks. */
  stored(count: number): void {
    // When chunks were sent twice because an answer was lost, the first answer may already count
    // them.
    if (count <= this.#stored || count > this.#stored + this.#sending.length) return
    for (const first of this.#sending.splice(0, count - this.#stored)) {
      this.#sendingLength -= lengthOf(first)
      this.#length -= lengthOf(first)
    }
    this.#stored = count
    this.#notify()
    this.#options.onChange()
  }

  /** The summary for the report, once only the last chunk is left. */
  summary(): OutputEnd | undefined {
    if (!this.#isEnded || this.#sending.length > 0 || !this.#isLast()) return undefined
    const last = this.#ready
    const { dropped } = this.#tail
    return {
      chunks: this.#stored + (last.length > 0 ? 1 : 0),
      bytes: this.#bytes,
      ...(dropped > 0 ? { dropped } : {}),
      ...(last.length > 0 ? { last } : {}),
    }
  }

  #isLast(): boolean {
    const left = this.#length - this.#sendingLength
    return this.#isEnded && left <= LAST_LENGTH && this.#ready.length <= CHUNK_ENTRIES
  }

  #nextChunk(): OutputEntry[] {
    let length = 0
    let count = 0
    for (const [, , text] of this.#ready) {
      if (count > 0 && (length + text.length > CHUNK_LENGTH || count === CHUNK_ENTRIES)) break
      length += text.length
      count += 1
    }
    return this.#ready.splice(0, count)
  }

  #addBytes(stream: 1 | 2, ms: number, bytes: Buffer): void {
    const end = bytes.lastIndexOf(NEWLINE) + 1
    const partial = this.#partial[stream]
    if (end > 0) this.#add(ms, stream, partial.take(true, bytes.subarray(0, end)))
    partial.push(bytes.subarray(end))
    if (partial.length >= LINE_BYTES) this.#add(ms, stream, partial.take(false))
  }

  #add(ms: number, stream: Stream, bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += CHUNK_LENGTH / 2) {
      const text = textOf(bytes.subarray(at, at + CHUNK_LENGTH / 2))
      this.#ready.push([Math.max(0, Math.round(ms)), stream, text])
      this.#length += text.length
    }
  }

  #endLines(ms: number): void {
    for (const stream of STREAMS) this.#add(ms, stream, this.#partial[stream].take(true))
  }

  #notify(): void {
    const isPaused = this.#length >= (this.#isPaused ? RESUME_LENGTH : PAUSE_LENGTH)
    if (isPaused !== this.#isPaused) {
      this.#isPaused = isPaused
      this.#options.onBackpressure(isPaused)
    }
    if (this.#ready.length > 0 || this.#partial[1].length + this.#partial[2].length > 0) {
      this.#options.onChange()
    }
  }
}

const NEWLINE = 10
const STREAMS = [1, 2] as const

function lengthOf(entries: readonly OutputEntry[]): number {
  return entries.reduce((sum, [, , text]) => sum + text.length, 0)
}
