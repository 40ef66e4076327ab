/** Bytes of a stream, and when they were printed. */
export interface Piece {
  readonly stream: 1 | 2
  readonly ms: number
  readonly bytes: Buffer
}

/** Keeps the last bytes of the output up to a limit, and counts the bytes dropped before them. */
export class OutputTail {
  readonly #most: number
  #pieces: Piece[] = []
  /** Pieces before this index are dropped. */
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
    const excess = Math.max(0, bytes.length - this.#most)
    this.#dropped += excess
    this.#pieces.push({ ...piece, bytes: compact(bytes.subarray(excess)) })
    this.#bytes += bytes.length - excess
    while (this.#bytes > this.#most) this.#dropFront(this.#bytes - this.#most)
  }

  /** Returns the kept pieces and forgets them. */
  take(): readonly Piece[] {
    const pieces = this.#pieces.slice(this.#first)
    this.#pieces = []
    return pieces
  }

  #dropFront(excess: number): void {
    const first = this.#pieces[this.#first] as Piece
    const removed = Math.min(excess, first.bytes.length)
    if (removed === first.bytes.length) this.#first += 1
    else this.#pieces[this.#first] = { ...first, bytes: first.bytes.subarray(removed) }
    this.#bytes -= removed
    this.#dropped += removed
    // Removing one piece from the front moves all others, so it is done rarely and in bulk.
    if (this.#first < this.#pieces.length / 2) return
    this.#pieces = this.#pieces.slice(this.#first)
    this.#first = 0
  }
}

/** Copies small slices, which would otherwise keep their whole buffer alive. */
function compact(bytes: Buffer): Buffer {
  return bytes.buffer.byteLength > 4 * bytes.length ? Buffer.from(bytes) : bytes
}
