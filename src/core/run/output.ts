import { isUtf8 } from 'node:buffer'
import type { Progress } from '../text/markers.ts'

/**
 * What a process printed: milliseconds since its attempt started, the stream, and text that ends with
 * a newline unless the next entry of the stream continues the line.
 */
export type Entry = readonly [ms: number, stream: Stream, text: string]

/** 1 and 2 as a process numbers them; 0 are remarks of the worker itself. */
export type Stream = 0 | 1 | 2

/** How an attempt's output ended. Its last chunk is in here, the others were sent before. */
export interface OutputEnd {
  readonly chunks: number
  /** What the process wrote, in bytes. */
  readonly bytes: number
  /** How much of it was left out because it was too much. */
  readonly dropped?: number | undefined
  readonly last?: readonly Entry[] | undefined
}

/** What is known of the process an attempt was. Travels and is stored under these names. */
export interface ProcessEnd {
  readonly exit_code?: number | undefined
  /** Its name, such as `SIGKILL`. */
  readonly signal?: string | undefined
  /** How surely its descendants were ended with it. */
  readonly containment?: string | undefined
  readonly output?: OutputEnd | undefined
  /** The last it said of how far it is, so many milliseconds after it started. */
  readonly progress?: (Progress & { readonly ms: number }) | undefined
}

/** A byte that is no part of UTF-8 stands in text as this plus the byte: half of a pair, never whole. */
const STRAY = 0xdc00

/** Text that `bytesOf` turns into exactly these bytes again, whatever they are. */
export function textOf(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (isUtf8(buffer)) return buffer.toString('utf8')
  let text = ''
  let good = 0
  for (let at = 0; at < buffer.length;) {
    const length = sequenceAt(buffer, at)
    if (length > 0) {
      at += length
      continue
    }
    text += buffer.toString('utf8', good, at) + String.fromCharCode(STRAY + (buffer[at] as number))
    at += 1
    good = at
  }
  return text + buffer.toString('utf8', good)
}

export function bytesOf(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text, 'utf8')
  const parts: Buffer[] = []
  let good = 0
  for (const match of text.matchAll(STRAYS)) {
    const [stray] = match
    const at = match.index
    parts.push(Buffer.from(text.slice(good, at), 'utf8'))
    parts.push(Buffer.from(Array.from(stray, (char) => char.charCodeAt(0) - STRAY)))
    good = at + stray.length
  }
  parts.push(Buffer.from(text.slice(good), 'utf8'))
  return Buffer.concat(parts)
}

/** With the `u` flag a whole pair is one character, so only halves match. */
const STRAYS = /[\uDC80-\uDCFF]+/gu

/** How many bytes at the end may be the beginning of a character whose rest is still to come. */
export function unfinishedBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] as number
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return lengthFrom(byte) > back ? back : 0
  }
  return 0
}

/** The length of the well-formed sequence that starts here, or 0. */
function sequenceAt(buffer: Buffer, at: number): number {
  const first = buffer[at] as number
  if (first < 0x80) return 1
  const length = lengthFrom(first)
  if (length === 0 || at + length > buffer.length) return 0
  return isUtf8(buffer.subarray(at, at + length)) ? length : 0
}

/** The length a first byte announces; 0 for bytes that cannot be first. */
function lengthFrom(first: number): number {
  if (first >= 0xc2 && first <= 0xdf) return 2
  if (first >= 0xe0 && first <= 0xef) return 3
  return first >= 0xf0 && first <= 0xf4 ? 4 : 0
}
