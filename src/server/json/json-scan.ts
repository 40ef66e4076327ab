import { LIMITS } from '../../core/limits.ts'
import { allowKeys, forgetKeys, refuseKey, startKeys } from './json-keys.ts'

/**
 * What `JSON.parse` does not say: nesting, repeated keys, keys that reach for prototypes and
 * strings the databases cannot hold. One pass over the bytes, before anything is built from them. It leaves
 * syntax to `JSON.parse`: on malformed text it only has to come to an end.
 */
export interface Scan {
  /** Why the text is refused, for a person. */
  readonly refused: string | undefined
  /** Somewhere an escape spells NUL or half a surrogate pair. */
  readonly hasBadText: boolean
}

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
const LETTER_U = 0x75
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

// Scratch. Scans never overlap: each runs to its end on the one thread.
const isObject = new Uint8Array(LIMITS.jsonDepth + 1)
let hasBadText = false

export function scanJson(bytes: Buffer, mostKeys: number = LIMITS.objectKeys): Scan {
  hasBadText = false
  allowKeys(mostKeys)
  const refused = scan(bytes)
  forgetKeys()
  return { refused, hasBadText }
}

function scan(bytes: Buffer): string | undefined {
  const { length } = bytes
  let depth = 0
  let expectsKey = false
  isObject[0] = 0
  for (let at = 0; at < length; at += 1) {
    const byte = bytes[at] as number
    if (byte === QUOTE) {
      const start = at + 1
      at = endOfText(bytes, start)
      if (expectsKey) {
        expectsKey = false
        const refused = refuseKey(bytes, depth, start, at)
        if (refused !== undefined) return refused
      }
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      depth += 1
      if (depth > LIMITS.jsonDepth) return `it is nested deeper than ${LIMITS.jsonDepth} levels`
      expectsKey = byte === OPEN_OBJECT
      isObject[depth] = expectsKey ? 1 : 0
      startKeys(depth)
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      depth = Math.max(0, depth - 1)
      expectsKey = false
    } else if (byte === COMMA) {
      expectsKey = isObject[depth] === 1
    }
  }
  return undefined
}

/** Most texts end within a few bytes; only on a long plain stretch a native search pays off. */
const STRETCH = 64

function endOfText(bytes: Buffer, start: number): number {
  const { length } = bytes
  let at = start
  let quote = -1
  let stretchEnd = at + STRETCH
  while (at < length) {
    if (at >= stretchEnd) {
      // Kept while it lies ahead: searching for it anew after every escape would be quadratic.
      if (quote < at) quote = bytes.indexOf(QUOTE, at)
      if (quote < 0) return length
      const plain = bytes.subarray(at, quote).indexOf(BACKSLASH)
      if (plain < 0) return quote
      at += plain
      stretchEnd = at + STRETCH
    }
    const byte = bytes[at]
    if (byte === QUOTE) return at
    at += byte === BACKSLASH ? escapeLength(bytes, at) : 1
  }
  return length
}

/** Bytes taken by the escape at `at`. Notes it when the escape spells what we cannot store. */
function escapeLength(bytes: Buffer, at: number): number {
  if (bytes[at + 1] !== LETTER_U) return 2
  const unit = hexUnit(bytes, at + 2)
  if (unit !== 0 && (unit < 0xd800 || unit > 0xdfff)) return 6
  const hasPartner = bytes[at + 6] === BACKSLASH && bytes[at + 7] === LETTER_U
  const low = hasPartner && unit >= 0xd800 && unit <= 0xdbff ? hexUnit(bytes, at + 8) : 0
  if (low >= 0xdc00 && low <= 0xdfff) return 12
  hasBadText = true
  return 6
}

/** Four hex digits as a number. What other characters give does not matter: they are not JSON. */
function hexUnit(bytes: Buffer, at: number): number {
  let unit = 0
  for (let i = at; i < at + 4; i += 1) {
    const byte = bytes[i] ?? 0
    unit = unit * 16 + (byte <= 0x39 ? byte - 0x30 : (byte & 0x1f) + 9)
  }
  return unit
}
