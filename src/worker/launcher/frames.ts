/**
 * How a worker and its launchers talk: four bytes of length, one byte of kind, then the content, which
 * is fields without names. Bytes and not JSON, because most of what travels is what processes print, and
 * because a launcher in C reads its orders where they lie.
 */
const HEADER = 5
/** Nothing either side sends is larger; a length beyond it means the stream is not ours. */
const LONGEST = 64 * 1024 * 1024
const FIRST_ROOM = 4096

/** Writes the fields of one frame after another, into memory it uses again. */
export class FrameWriter {
  #bytes = Buffer.allocUnsafeSlow(FIRST_ROOM)
  #at = 0

  begin(kind: number): this {
    this.#at = HEADER
    this.#bytes[HEADER - 1] = kind
    return this
  }
  u8(value: number): this {
    this.#grow(1)
    this.#at = this.#bytes.writeUInt8(value, this.#at)
    return this
  }
  u32(value: number): this {
    this.#grow(4)
    this.#at = this.#bytes.writeUInt32LE(value, this.#at)
    return this
  }
  i32(value: number): this {
    this.#grow(4)
    this.#at = this.#bytes.writeInt32LE(value, this.#at)
    return this
  }
  f64(value: number): this {
    this.#grow(8)
    this.#at = this.#bytes.writeDoubleLE(value, this.#at)
    return this
  }
  /** Its length, its bytes, and a zero at the end that is part of them: what C calls a string. */
  text(value: string): this {
    return this.#sized(value, 1)
  }
  /** The same without the zero. */
  blob(value: string): this {
    return this.#sized(value, 0)
  }
  texts(values: readonly string[]): this {
    this.u32(values.length)
    for (const value of values) this.text(value)
    return this
  }
  bytes(value: Buffer): this {
    this.#grow(value.length)
    this.#at += value.copy(this.#bytes, this.#at)
    return this
  }
  /** The frame, as a copy of its own. */
  end(): Buffer {
    const length = this.#at - HEADER
    if (length > LONGEST) throw new RangeError(`a frame of ${length} bytes`)
    this.#bytes.writeUInt32LE(length, 0)
    const frame = Buffer.from(this.#bytes.subarray(0, this.#at))
    // One large frame must not cost memory for ever.
    if (this.#bytes.length > 16 * FIRST_ROOM) this.#bytes = Buffer.allocUnsafeSlow(FIRST_ROOM)
    return frame
  }

  #sized(value: string, zeros: number): this {
    // A character of a string takes at most three bytes.
    this.#grow(4 + 3 * value.length + zeros)
    const start = this.#at + 4
    this.#at = start + this.#bytes.write(value, start)
    if (zeros > 0) this.#bytes[this.#at++] = 0
    this.#bytes.writeUInt32LE(this.#at - start, start - 4)
    return this
  }
  #grow(size: number): void {
    if (this.#at + size <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(2 * (this.#at + size))
    this.#bytes.copy(larger, 0, 0, this.#at)
    this.#bytes = larger
  }
}

/** Reads the fields of one frame. One that is too short throws. */
export class FrameContent {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }
  u8(): number {
    return this.#bytes.readUInt8(this.#take(1))
  }
  u32(): number {
    return this.#bytes.readUInt32LE(this.#take(4))
  }
  i32(): number {
    return this.#bytes.readInt32LE(this.#take(4))
  }
  f64(): number {
    return this.#bytes.readDoubleLE(this.#take(8))
  }
  text(): string {
    const length = this.u32()
    const start = this.#take(length)
    return this.#bytes.toString('utf8', start, start + length - 1)
  }
  blob(): string {
    const length = this.u32()
    const start = this.#take(length)
    return this.#bytes.toString('utf8', start, start + length)
  }
  texts(): string[] {
    return Array.from({ length: this.u32() }, () => this.text())
  }
  rest(): Buffer {
    return this.#bytes.subarray(this.#at)
  }
  #take(size: number): number {
    const start = this.#at
    this.#at += size
    if (this.#at > this.#bytes.length) throw new RangeError('a frame that is too short')
    return start
  }
}

/** Puts frames together from whatever pieces arrive. */
export function createFrameReader(
  deliver: (kind: number, content: FrameContent) => void,
): (piece: Buffer) => void {
  let pieces: Buffer[] = []
  let length = 0
  let wanted = HEADER

  return (piece) => {
    pieces.push(piece)
    length += piece.length
    while (length >= wanted) {
      const buffer = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)
      pieces = [buffer]
      const size = HEADER + buffer.readUInt32LE(0)
      if (size > HEADER + LONGEST) throw new Error(`a frame of ${size} bytes`)
      wanted = size
      if (length < size) return
      deliver(buffer.readUInt8(HEADER - 1), new FrameContent(buffer.subarray(HEADER, size)))
      const rest = buffer.subarray(size)
      pieces = rest.length > 0 ? [rest] : []
      length = rest.length
      wanted = HEADER
    }
  }
}
