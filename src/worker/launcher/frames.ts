/**
 * The protocol between a worker and its launchers: four bytes of length, one byte of kind, then the
 * content, which is a sequence of unnamed fields. Binary instead of JSON, because most of the
 * traffic is process output, and because the launcher in C reads its orders in place.
 */
const HEADER = 5
/** Both sides send no larger frames; a greater length means that the stream is corrupt. */
const LONGEST = 64 * 1024 * 1024
const FIRST_ROOM = 4096

/** Writes the fields of one frame after another into a buffer that is reused. */
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
  /** Length, bytes and a terminating zero that counts as part of them: a C string. */
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
  /** Returns the frame as a copy. */
  end(): Buffer {
    const length = this.#at - HEADER
    if (length > LONGEST) throw new RangeError(`a frame of ${length} bytes`)
    this.#bytes.writeUInt32LE(length, 0)
    const frame = Buffer.from(this.#bytes.subarray(0, this.#at))
    // One large frame must not occupy its memory for ever.
    if (this.#bytes.length > 16 * FIRST_ROOM) this.#bytes = Buffer.allocUnsafeSlow(FIRST_ROOM)
    return frame
  }

  #sized(value: string, zeros: number): this {
    // One UTF-16 unit of a string takes at most three bytes.
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

/** Reads the fields of one frame. Throws if the frame is too short. */
export class FrameContent {
  readonly #bytes: Buffer
  readonly #rest: Buffer | undefined
  #at = 0

  /** `rest` holds the bytes after these fields, if they are in another buffer. */
  constructor(bytes: Buffer, rest?: Buffer) {
    this.#bytes = bytes
    this.#rest = rest
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
    return this.#rest ?? this.#bytes.subarray(this.#at)
  }
  #take(size: number): number {
    const start = this.#at
    this.#at += size
    if (this.#at > this.#bytes.length) throw new RangeError('a frame that is too short')
    return start
  }
}

/** Frames whose rest is passed on in parts as it arrives, after `fieldBytes` bytes of fields. */
export interface PassedOn {
  readonly kind: number
  readonly fieldBytes: number
}

/**
 * Assembles frames from pieces of any size. The output of processes is passed on in these pieces
 * without a copy: copying gigabytes of it would fill the worker's memory with garbage.
 */
export function createFrameReader(
  deliver: (kind: number, content: FrameContent) => void,
  passedOn: PassedOn = { kind: -1, fieldBytes: 0 },
): (piece: Buffer) => void {
  const head = Buffer.alloc(HEADER + passedOn.fieldBytes)
  /** Bytes of the head that have arrived. */
  let headLength = HEADER
  let filled = 0
  /** Bytes of the content that are still missing. */
  let left = 0
  let parts: Buffer[] = []

  const readHead = () => {
    const size = head.readUInt32LE(0)
    if (size > LONGEST) throw new Error(`a frame of ${size} bytes`)
    const isPassedOn = head[HEADER - 1] === passedOn.kind
    if (isPassedOn && headLength === HEADER) {
      headLength += passedOn.fieldBytes
      return
    }
    left = size - (headLength - HEADER)
    if (left < 0) throw new RangeError('a frame that is too short')
    if (left === 0) readPart(head.subarray(0, 0))
  }

  const readPart = (part: Buffer) => {
    left -= part.length
    const kind = head[HEADER - 1] as number
    const isPassedOn = headLength > HEADER
    const fields = head.subarray(HEADER, headLength)
    if (!isPassedOn) parts.push(part)
    if (left === 0) {
      headLength = HEADER
      filled = 0
    }
    if (isPassedOn) return deliver(kind, new FrameContent(fields, part))
    if (left > 0) return
    const content = parts.length === 1 ? part : Buffer.concat(parts)
    parts = []
    deliver(kind, new FrameContent(content))
  }

  return (piece) => {
    for (let at = 0; at < piece.length;) {
      const part = piece.subarray(at, at + (left > 0 ? left : headLength - filled))
      at += part.length
      if (left > 0) readPart(part)
      else {
        filled += part.copy(head, filled)
        if (filled === headLength) readHead()
      }
    }
  }
}
