import { constants, zstdCompress, zstdDecompressSync } from 'node:zlib'
import { promisify } from 'node:util'
import { bytesOf, type Entry, type Stream, textOf } from '../../core/run/output.ts'

/**
 * How a chunk is kept. A short one is the JSON of its entries, as every chunk was at first: it begins
 * with a bracket. A longer one is a Zstandard frame of what `layOut` makes: where each entry ends, and
 * then nothing but what was printed, so that a download or a search need not look at entries at all.
 */
const BRACKET = 0x5b
/** Shorter ones gain nothing that is worth a turn of another thread. */
const SHORT_BYTES = 1_024
/** The fastest level: others gain a tenth and take twice as long. */
const OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
/** A frame may say that it holds anything; no chunk holds more than this. */
const MOST_BYTES = 4 * 1024 * 1024
const LENGTH_BYTES = 4
/** Numbers that say of an entry when, which stream, and how many bytes. */
const PER_ENTRY = 3

const compress = promisify(zstdCompress)

/** A chunk as it was before it was packed. */
export interface Unpacked {
  /** Milliseconds, stream and bytes of each entry, one after the other. */
  readonly head: readonly number[]
  /** What was printed, of all entries. */
  readonly body: Buffer
}

/** `unpacked` is `ofEntries` of the same entries. */
export async function packChunk(
  entries: readonly Entry[],
  unpacked: Unpacked = ofEntries(entries),
): Promise<Buffer> {
  if (unpacked.body.length < SHORT_BYTES) return Buffer.from(JSON.stringify(entries))
  return compress(layOut(unpacked), OPTIONS)
}

export function unpackChunk(packed: Buffer): Unpacked {
  if (packed[0] === BRACKET) return ofEntries(JSON.parse(packed.toString()) as Entry[])
  const bytes = zstdDecompressSync(packed, { maxOutputLength: MOST_BYTES })
  const end = LENGTH_BYTES + bytes.readUInt32LE(0)
  const head = JSON.parse(bytes.toString('latin1', LENGTH_BYTES, end)) as number[]
  return { head, body: bytes.subarray(end) }
}

export function entriesOf({ head, body }: Unpacked): Entry[] {
  const entries: Entry[] = []
  let start = 0
  for (let at = 0; at < head.length; at += PER_ENTRY) {
    const end = start + (head[at + 2] as number)
    const text = textOf(body.subarray(start, end))
    entries.push([head[at] as number, head[at + 1] as Stream, text])
    start = end
  }
  return entries
}

/** What a process printed, without the remarks of its worker. */
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

/** The same of entries that were never packed. */
export function ofEntries(entries: readonly Entry[]): Unpacked {
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
