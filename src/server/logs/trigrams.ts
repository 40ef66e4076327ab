import { stripAnsi } from './ansi.ts'
import type { Unpacked } from './chunk-pack.ts'

/**
 * The trigrams of bytes in a chunk, as a Bloom-like filter of 32,768 bits with errors in one
 * direction: it may claim a trigram that does not occur. A search for "connection refused" reads
 * only the chunks that have every trigram of it.
 */
const BITS = 2 ** 15
const FILTER_BYTES = BITS / 8
const SHIFT = 32 - 15
/** Knuth's multiplier: neighbouring values are spread far apart. */
const HASH_MULTIPLIER = 0x9e3779b1
const THREE_BYTES = 0xffffff
const NEWLINE = 10
/** Below this the filter would be larger than what it could save. */
const SHORT_BYTES = 4 * FILTER_BYTES

/**
 * The filter of a chunk, or null when the chunk must always be searched: because it is short, or
 * because a line, and with it a match, continues in the next chunk.
 */
export function trigramsOf(chunk: Unpacked): Buffer | null {
  if (chunk.body.length < SHORT_BYTES || !endsLines(chunk)) return null
  const bytes = stripAnsi(chunk.body)
  // One byte per bit while it is built, so that no bit has to be read before it is written.
  const seen = new Uint8Array(BITS)
  let group = 0
  for (let at = 0; at < bytes.length; at += 1) {
    group = ((group << 8) | (FOLDED[bytes[at] as number] as number)) & THREE_BYTES
    seen[Math.imul(group, HASH_MULTIPLIER) >>> SHIFT] = 1
  }
  const filter = Buffer.alloc(FILTER_BYTES)
  for (let bit = 0; bit < BITS; bit += 1) {
    filter[bit >> 3] = (filter[bit >> 3] as number) | ((seen[bit] as number) << (bit & 7))
  }
  return filter
}

/** The filter bits of a chunk that contains this text in any case. None if it is too short. */
export function trigramBits(text: string): number[] {
  const bytes = Buffer.from(text)
  const bits = new Set<number>()
  for (let at = 2; at < bytes.length; at += 1) {
    let group = 0
    for (const byte of bytes.subarray(at - 2, at + 1)) {
      group = (group << 8) | (FOLDED[byte] as number)
    }
    bits.add(Math.imul(group, HASH_MULTIPLIER) >>> SHIFT)
  }
  return [...bits]
}

/** Maps ASCII capital letters to small ones. */
const FOLDED = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte,
)

/**
 * Whether every line that begins here also ends here and is not interrupted by the other stream.
 */
export function endsLines({ head, body }: Unpacked): boolean {
  let end = 0
  for (let at = 0; at < head.length; at += 3) {
    end += head[at + 2] as number
    if (body[end - 1] !== NEWLINE && head[at + 4] !== head[at + 1]) return false
  }
  return true
}
