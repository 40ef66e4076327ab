import {
  type Entry,
  type OutputEnd,
  type Stream,
  textOf,
  unfinishedBytes,
} from '../../core/output.ts'

/** Characters one chunk may hold, with room to spare below what the server takes. */
const CHUNK_LENGTH = 192 * 1024
const CHUNK_ENTRIES = 8_000
/** What may travel inside the report of an ending. */
const LAST_LENGTH = 32 * 1024
/** A line without an end is passed on in pieces of this size. */
const LINE_BYTES = 16 * 1024
/** Where reading stops, and where it goes on. */
const FULL_LENGTH = 1024 * 1024
const ROOM_LENGTH = 256 * 1024
/** Of output beyond the limit, at most this much of its end is kept, and no more than of its beginning. */
const TAIL_BYTES = 64 * 1024

export interface OutputOptions {
  /** Bytes kept of one attempt, not counting the tail. */
  readonly limitBytes: number
  /** There is something to send, or less than before. */
  onChange(): void
  /** Whether there is room for more: a process that prints faster than we can send must wait. */
  onRoom(hasRoom: boolean): void
}

/**
 * What an attempt prints, on its way to the server: put into lines, cut into chunks, sent in order,
 * and kept until the server has it. Too much of it is cut in the middle, and says so.
 */
export class Output {
  readonly #options: OutputOptions
  readonly #partial = { 1: new Partial(), 2: new Partial() }
  #ready: Entry[] = []
  #length = 0
  #bytes = 0
  #kept = 0
  #dropped = 0
  #tail: Piece[] = []
  #tailBytes = 0
  #sending: readonly Entry[] | undefined
  #stored = 0
  #hasRoom = true
  #isEnded = false

  constructor(options: OutputOptions) {
    this.#options = options
  }

  push(stream: 1 | 2, ms: number, bytes: Buffer): void {
    this.#bytes += bytes.length
    const room = this.#options.limitBytes - this.#kept
    if (bytes.length > room) this.#pushTail({ stream, ms, bytes: bytes.subarray(room) })
    if (room <= 0) return
    this.#kept += Math.min(room, bytes.length)
    this.#take(stream, ms, bytes.subarray(0, room))
    this.#review()
  }

  /** A line that waits for its end is shown as far as it goes. */
  flush(ms: number): void {
    for (const stream of [1, 2] as const) this.#add(ms, stream, this.#partial[stream].take(false))
    this.#review()
  }

  /** A remark of the worker's own. */
  remark(ms: number, text: string): void {
    this.#add(ms, 0, Buffer.from(`${text}\n`))
    this.#review()
  }

  /** Nothing more will be printed. What is left goes out in chunks, except the last. */
  end(ms: number): void {
    for (const stream of [1, 2] as const) this.#add(ms, stream, this.#partial[stream].take(true))
    if (this.#tail.length > 0) {
      const left = this.#dropped
      this.#add(ms, 0, Buffer.from(`… ${left} bytes were left out here …\n`))
      for (const piece of this.#tail) this.#add(piece.ms, piece.stream, piece.bytes)
      this.#tail = []
    }
    this.#isEnded = true
    this.#review()
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  /** How much waits to be sent. */
  get length(): number {
    return this.#length
  }

  /** The chunk to send now; the same again until it is stored. */
  next(): { chunk: number; entries: readonly Entry[] } | undefined {
    if (!this.#sending) {
      if (this.#ready.length === 0 || this.#isLast()) return undefined
      this.#sending = this.#cut()
    }
    return { chunk: this.#stored, entries: this.#sending }
  }

  /** The server has this many chunks. */
  stored(count: number): void {
    if (count !== this.#stored + 1 || !this.#sending) return
    this.#length -= lengthOf(this.#sending)
    this.#sending = undefined
    this.#stored = count
    this.#review()
    this.#options.onChange()
  }

  /** How it all ended, once only the last chunk is left. */
  summary(): OutputEnd | undefined {
    if (!this.#isEnded || this.#sending || !this.#isLast()) return undefined
    const last = this.#ready
    return {
      chunks: this.#stored + (last.length > 0 ? 1 : 0),
      bytes: this.#bytes,
      ...(this.#dropped > 0 ? { dropped: this.#dropped } : {}),
      ...(last.length > 0 ? { last } : {}),
    }
  }

  #isLast(): boolean {
    return this.#isEnded && this.#length <= LAST_LENGTH && this.#ready.length <= CHUNK_ENTRIES
  }

  #cut(): Entry[] {
    let length = 0
    let count = 0
    for (const [, , text] of this.#ready) {
      if (count > 0 && (length + text.length > CHUNK_LENGTH || count === CHUNK_ENTRIES)) break
      length += text.length
      count += 1
    }
    return this.#ready.splice(0, count)
  }

  #take(stream: 1 | 2, ms: number, bytes: Buffer): void {
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

  #pushTail(piece: Piece): void {
    this.#tail.push(piece)
    this.#tailBytes += piece.bytes.length
    const most = Math.min(TAIL_BYTES, this.#options.limitBytes)
    while (this.#tailBytes > most) {
      const first = this.#tail[0] as Piece
      const over = Math.min(this.#tailBytes - most, first.bytes.length)
      if (over === first.bytes.length) this.#tail.shift()
      else this.#tail[0] = { ...first, bytes: first.bytes.subarray(over) }
      this.#tailBytes -= over
      this.#dropped += over
    }
  }

  #review(): void {
    const hasRoom = this.#length < (this.#hasRoom ? FULL_LENGTH : ROOM_LENGTH)
    if (hasRoom !== this.#hasRoom) {
      this.#hasRoom = hasRoom
      this.#options.onRoom(hasRoom)
    }
    if (this.#ready.length > 0 || this.#partial[1].length + this.#partial[2].length > 0) {
      this.#options.onChange()
    }
  }
}

const NEWLINE = 10

interface Piece {
  readonly stream: 1 | 2
  readonly ms: number
  readonly bytes: Buffer
}

/** The beginning of a line whose end is still to come. */
class Partial {
  #pieces: Buffer[] = []
  length = 0

  push(bytes: Buffer): void {
    if (bytes.length === 0) return
    this.#pieces.push(bytes)
    this.length += bytes.length
  }

  /** All of it, and what follows; without `whole`, except a character that is not complete yet. */
  take(whole: boolean, more: Buffer = Buffer.alloc(0)): Buffer {
    const bytes = this.#pieces.length === 0 ? more : Buffer.concat([...this.#pieces, more])
    const kept = whole ? 0 : unfinishedBytes(bytes)
    this.#pieces = kept > 0 ? [bytes.subarray(bytes.length - kept)] : []
    this.length = kept
    return bytes.subarray(0, bytes.length - kept)
  }
}

function lengthOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, [, , text]) => sum + text.length, 0)
}
