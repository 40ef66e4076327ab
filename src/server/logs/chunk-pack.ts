import { constants, zstdCompress, zstdDecompress, zstdDecompressSync } from 'node:zlib'
import { promisify } from 'node:util'
import { bytesOf, type OutputEntry, type Stream, textOf } from '../../core/run/output.ts'

/**
 * The stored form of a chunk. A short one is the JSON of its entries, like every chunk at first: it
 * begins with a bracket. A longer one is a Zstandard frame of the output of `layOut`: the ends of
 * the entries, and then only the printed bytes, so that a download or a search need not parse
 * entries.
 */
const BRACKET = 0x5b
/** Compressing shorter chunks is not worth the turn of another thread. */
const SHORT_BYTES = 1_024
/** The fastest level: higher ones save a tenth and take twice as long. */
const OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
/** A frame may claim any size; no chunk contains more than this. */
const MOST_BYTES = 4 * 1024 * 1024
const LENGTH_BYTES = 4
/** Numbers per entry: time, stream, and number of bytes. */
const PER_ENTRY = 3

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/** An unpacked chunk. */
export interface Unpacked {
  /** Milliseconds, stream and bytes of each entry, one after the other. */
  readonly head: readonly number[]
  /** The printed bytes of all entries. */
  readonly body: Buffer
}

/** `unpacked` is `ofEntries` of the same entries. */
export async function packChunk(
  entries: readonly OutputEntry[],
  unpacked: Unpacked = ofEntries(entries),
): Promise<Buffer> {
  if (unpacked.body.length < SHORT_BYTES) return Buffer.from(JSON.stringify(entries))
  return compress(layOut(unpacked), OPTIONS)
}

export function unpackChunk(packed: Buffer): Unpacked {
  if (packed[0] === BRACKET) return ofEntries(JSON.parse(packed.toString()) as OutputEntry[])
  return readLayOut(zstdDecompressSync(packed, { maxOutputLength: MOST_BYTES }))
}

/** The same, with the decompression outside of the calling thread. */
export async function unpackInBackground(packed: Buffer): Promise<Unpacked> {
  if (packed[0] === BRACKET) return unpackChunk(packed)
  return readLayOut(await decompress(packed, { maxOutputLength: MOST_BYTES }))
}

function readLayOut(bytes: Buffer): Unpacked {
  const end = LENGTH_BYTES + bytes.readUInt32LE(0)
  const head = JSON.parse(bytes.toString('latin1', LENGTH_BYTES, end)) as number[]
  return { head, body: bytes.subarray(end) }
}

export function entriesOf({ head, body }: Unpacked): OutputEntry[] {
  const entries: OutputEntry[] = []
  let start = 0
  for (let at = 0; at < head.length; at += PER_ENTRY) {
    const end = start + (head[at + 2] as number)
    const text = textOf(body.subarray(start, end))
    entries.push([head[at] as number, head[at + 1] as Stream, text])
    start = end
  }
  return entries
}

/** Output of the process, without messages of its worker. */
export function printedBytes({ head, body }: Unpacked): Buffer {
  const kept: Buffer[] = []
  let start = 0
  let isWhole = true
  for (let at = 0; at < head.length; at += PER_ENTRY) {
    const end = start + (head[at + 2] as number)
    if (head[at + 1] === 0) isWhole = false
    else kept.push(body.subarray(start, end))
    start = end
  }
  return isWhole ? body : Buffer.concat(kept)
}

/** The same for entries that were never packed. */
export function ofEntries(entries: readonly OutputEntry[]): Unpacked {
  const texts = entries.map(([, , text]) => bytesOf(text))
  const head = entries.flatMap(([ms, stream], index) => [
    ms,
    stream,
    (texts[index] as Buffer).length,
  ])
  return { head, body: Buffer.concat(texts) }
}

function layOut({ head, body }: Unpacked): Buffer {
  const written = Buffer.from(JSON.stringify(head), 'latin1')
  const length = Buffer.allocUnsafe(LENGTH_BYTES)
  length.writeUInt32LE(written.length)
  return Buffer.concat([length, written, body])
}
