import { isUtf8 } from 'node:buffer'
import type { Progress } from '../text/markers.ts'

/**
 * Printed output: milliseconds since the start of the attempt, the stream, and text that ends with a newline unless
 * the next entry of the stream continues the line.
 */
export type OutputEntry = readonly [ms: number, stream: Stream, text: string]

/** 1 and 2 are the file descriptors of the process; 0 marks messages of the worker itself. */
export type Stream = 0 | 1 | 2

/** The end of an attempt's output. It contains the last chunk; the others were sent before. */
export interface OutputEnd {
  readonly chunks: number
  /** Bytes written by the process. */
  readonly bytes: number
  /** Bytes left out beyond the limit. */
  readonly dropped?: number | undefined
  readonly last?: readonly OutputEntry[] | undefined
}

/** The known facts about the process of an attempt. Sent and stored under these names. */
export interface ProcessEnd {
  readonly exit_code?: number | undefined
  /** The signal's name, such as `SIGKILL`. */
  readonly signal?: string | undefined
  /** How reliably its descendant processes were ended with it. */
  readonly containment?: string | undefined
  readonly output?: OutputEnd | undefined
  /** The last reported progress, and its time in milliseconds after the start. */
  readonly progress?: (Progress & { readonly ms: number }) | undefined
}

/** Exit codes on any system. POSIX has 0 to 255; some languages report a process ended by a signal as -1. */
export const EXIT_CODES = { minimum: -(2 ** 31), maximum: 2 ** 32 - 1 }

/** A byte that is not part of valid UTF-8 is represented as this value plus the byte: a lone surrogate. */
const STRAY = 0xdc00

/** Converts bytes to text that `bytesOf` converts back to exactly the same bytes. */
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

/** With the `u` flag a surrogate pair is one character, so only lone surrogates match. */
const STRAYS = /[\uDC80-\uDCFF]+/gu

/** Number of bytes at the end that may begin an incomplete character. */
export function unfinishedBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] as number
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return lengthFrom(byte) > back ? back : 0
  }
  return 0
}

/** Length of the well-formed sequence that starts here, or 0. */
function sequenceAt(buffer: Buffer, at: number): number {
  const first = buffer[at] as number
  if (first < 0x80) return 1
  const length = lengthFrom(first)
  if (length === 0 || at + length > buffer.length) return 0
  return isUtf8(buffer.subarray(at, at + length)) ? length : 0
}

/** The length announced by a first byte; 0 for bytes that cannot be first. */
function lengthFrom(first: number): number {
  if (first >= 0xc2 && first <= 0xdf) return 2
  if (first >= 0xe0 && first <= 0xef) return 3
  return first >= 0xf0 && first <= 0xf4 ? 4 : 0
}
