/**
 * How a worker and its launchers talk: four bytes of length, one byte of kind, then the content.
 * Bytes and not lines of JSON, because most of what travels is what processes print.
 */
export const FRAME = { message: 0, output: 1 } as const

const HEADER = 5
/** Nothing either side sends is larger; a length beyond it means the stream is not ours. */
const LONGEST = 64 * 1024 * 1024

export function messageFrame(message: unknown): Buffer {
  return frame(FRAME.message, Buffer.from(JSON.stringify(message)))
}

/** What a process printed: its number, the stream, when, and the bytes. */
export function outputFrame(
  child: number,
  stream: 1 | 2,
  ms: number,
  bytes: Buffer,
): [head: Buffer, bytes: Buffer] {
  const head = Buffer.allocUnsafe(HEADER + OUTPUT_HEAD)
  head.writeUInt32LE(OUTPUT_HEAD + bytes.length, 0)
  head.writeUInt8(FRAME.output, 4)
  head.writeUInt32LE(child, HEADER)
  head.writeUInt8(stream, HEADER + 4)
  head.writeDoubleLE(ms, HEADER + 5)
  return [head, bytes]
}

const OUTPUT_HEAD = 13

export interface Output {
  readonly child: number
  readonly stream: 1 | 2
  readonly ms: number
  readonly bytes: Buffer
}

function frame(kind: number, content: Buffer): Buffer {
  const head = Buffer.allocUnsafe(HEADER)
  head.writeUInt32LE(content.length, 0)
  head.writeUInt8(kind, 4)
  return Buffer.concat([head, content])
}

/** Puts frames together from whatever pieces arrive. */
export function createFrameReader(on: {
  message(message: unknown): void
  output(output: Output): void
}): (piece: Buffer) => void {
  let pieces: Buffer[] = []
  let length = 0
  let wanted = HEADER

  const deliver = (kind: number, content: Buffer) => {
    if (kind === FRAME.message) return on.message(JSON.parse(content.toString()))
    on.output({
      child: content.readUInt32LE(0),
      stream: content.readUInt8(4) as 1 | 2,
      ms: content.readDoubleLE(5),
      bytes: content.subarray(OUTPUT_HEAD),
    })
  }

  return (piece) => {
    pieces.push(piece)
    length += piece.length
    while (length >= wanted) {
      const buffer = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)
      pieces = [buffer]
      const size = HEADER + buffer.readUInt32LE(0)
      if (size > LONGEST) throw new Error(`a frame of ${size} bytes`)
      wanted = size
      if (length < size) return
      deliver(buffer.readUInt8(4), buffer.subarray(HEADER, size))
      const rest = buffer.subarray(size)
      pieces = rest.length > 0 ? [rest] : []
      length = rest.length
      wanted = HEADER
    }
  }
}
