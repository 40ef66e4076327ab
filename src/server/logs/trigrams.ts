import { stripAnsi } from './ansi.ts'
import type { Unpacked } from './chunk-pack.ts'

/**
 * Which groups of three bytes occur in a chunk, as a filter of 32,768 bits that can be wrong in one
 * direction only: it may say that a group occurs which does not. A search for "connection refused"
 * looks into the chunks that have every group of it, and leaves the other thousands alone.
 */
const BITS = 2 ** 15
const FILTER_BYTES = BITS / 8
const SHIFT = 32 - 15
/** Knuth's multiplier: neighbours land far apart. */
const SPREAD = 0x9e3779b1
const THREE_BYTES = 0xffffff
const NEWLINE = 10
/** A filter is longer than what it would save to look at. */
const SHORT_BYTES = 4 * FILTER_BYTES

/**
 * The filter of a chunk, or null when it must be looked into in any case: because it is short, or
 * because a line goes on in the next chunk, and what is looked for may do so, too.
 */
export function trigramsOf(chunk: Unpacked): Buffer | null {
  if (chunk.body.length < SHORT_BYTES || !endsLines(chunk)) return null
  const bytes = stripAnsi(chunk.body)
  // A byte for a bit while it is made: nothing has to be read before it can be written.
  const seen = new Uint8Array(BITS)
  let group = 0
  for (let at = 0; at < bytes.length; at += 1) {
    group = ((group << 8) | (FOLDED[bytes[at] as number] as number)) & THREE_BYTES
    seen[Math.imul(group, SPREAD) >>> SHIFT] = 1
  }
  const filter = Buffer.alloc(FILTER_BYTES)
  for (let bit = 0; bit < BITS; bit += 1) {
    filter[bit >> 3] = (filter[bit >> 3] as number) | ((seen[bit] as number) << (bit & 7))
  }
  return filter
}

/** The bits that a chunk has if this text is in it, in whatever case. None if it is too short. */
export function trigramBits(text: string): number[] {
  const bytes = Buffer.from(text)
  const bits = new Set<number>()
  for (let at = 2; at < bytes.length; at += 1) {
    let group = 0
    for (const byte of bytes.subarray(at - 2, at + 1)) {
      group = (group << 8) | (FOLDED[byte] as number)
    }
    bits.add(Math.imul(group, SPREAD) >>> SHIFT)
  }
  return [...bits]
}

/** Every byte, and for a capital letter of ASCII the small one. */
const FOLDED = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte,
)

/** Whether every line that begins here is in one piece: nothing of another stream in it, and its end. */
export function endsLines({ head, body }: Unpacked): boolean {
  let end = 0
  for (let at = 0; at < head.length; at += 3) {
    end += head[at + 2] as number
    if (body[end - 1] !== NEWLINE && head[at + 4] !== head[at + 1]) return false
  }
  return true
}
