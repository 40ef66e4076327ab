/** Bytes of a stream, and when they were printed. */
export interface Piece {
  readonly stream: 1 | 2
  readonly ms: number
  readonly bytes: Buffer
}

/** The end of what is printed, as much as may be kept of it, and a count of what was before that. */
export class OutputTail {
  readonly #most: number
  #pieces: Piece[] = []
  /** Pieces before this one are gone. */
  #first = 0
  #bytes = 0
  #dropped = 0

  constructor(mostBytes: number) {
    this.#most = mostBytes
  }

  get dropped(): number {
    return this.#dropped
  }

  push(piece: Piece): void {
    const { bytes } = piece
    const over = Math.max(0, bytes.length - this.#most)
    this.#dropped += over
    this.#pieces.push({ ...piece, bytes: compact(bytes.subarray(over)) })
    this.#bytes += bytes.length - over
    while (this.#bytes > this.#most) this.#forget(this.#bytes - this.#most)
  }

  /** What is left, for good. */
  take(): readonly Piece[] {
    const pieces = this.#pieces.slice(this.#first)
    this.#pieces = []
    return pieces
  }

  #forget(over: number): void {
    const first = this.#pieces[this.#first] as Piece
    const gone = Math.min(over, first.bytes.length)
    if (gone === first.bytes.length) this.#first += 1
    else this.#pieces[this.#first] = { ...first, bytes: first.bytes.subarray(gone) }
    this.#bytes -= gone
    this.#dropped += gone
    // Taking one away at the front moves all others; now and then, that is cheap.
    if (this.#first < this.#pieces.length / 2) return
    this.#pieces = this.#pieces.slice(this.#first)
    this.#first = 0
  }
}

/** A few bytes must not keep alive the long piece of memory they lie in. */
function compact(bytes: Buffer): Buffer {
  return bytes.buffer.byteLength > 4 * bytes.length ? Buffer.from(bytes) : bytes
}
