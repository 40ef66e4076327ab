import { LIMITS } from '../../core/limits.ts'
import type { Pausing } from '../../core/pausing.ts'
import { KeyCheck } from './json-keys.ts'

/**
 * Checks what `JSON.parse` does not: nesting, repeated keys, keys that reach prototypes, and
 * strings that databases cannot store. One pass over the bytes, before anything is built from them.
 * Syntax is left to `JSON.parse`: on malformed text the scan only has to terminate.
 */
export interface Scan {
  /** Why the text is refused, in words for the caller. */
  readonly refused: string | undefined
  /** An escape somewhere encodes NUL or half a surrogate pair. */
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

/** Bytes scanned between two pauses. A string is never interrupted: it is scanned to its end. */
const STEP_BYTES = 128 * 1024

// State of the current step: steps never overlap, each runs to its end on the one thread.
let sawBadText = false

/** An interruptible scan, with all state it needs to continue. */
class Scanner {
  hasBadText = false
  #at = 0
  #depth = 0
  #expectsKey = false
  readonly #isObject = new Uint8Array(LIMITS.jsonDepth + 1)
  readonly #keys = new KeyCheck()

  begin(mostKeys: number): void {
    this.hasBadText = false
    this.#at = 0
    this.#depth = 0
    this.#expectsKey = false
    this.#isObject[0] = 0
    this.#keys.begin(mostKeys)
  }

  end(): void {
    this.#keys.end()
  }

  isAtEnd(bytes: Buffer): boolean {
    return this.#at >= bytes.length
  }

  /** Scans this many bytes, and on to the end of the string it is in by then. */
  step(bytes: Buffer, count: number): string | undefined {
    sawBadText = false
    const refused = this.#scan(bytes, count)
    this.hasBadText ||= sawBadText
    return refused
  }

  #scan(bytes: Buffer, count: number): string | undefined {
    const until = Math.min(bytes.length, this.#at + count)
    const isObject = this.#isObject
    const keys = this.#keys
    let depth = this.#depth
    let expectsKey = this.#expectsKey
    let at = this.#at
    for (; at < until; at += 1) {
      const byte = bytes[at] as number
      if (byte === QUOTE) {
        const start = at + 1
        at = endOfText(bytes, start)
        if (expectsKey) {
          expectsKey = false
          const refused = keys.refuse(bytes, depth, start, at)
          if (refused !== undefined) return refused
        }
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        depth += 1
        if (depth > LIMITS.jsonDepth) return `it is nested deeper than ${LIMITS.jsonDepth} levels`
        expectsKey = byte === OPEN_OBJECT
        isObject[depth] = expectsKey ? 1 : 0
        keys.startObject(depth)
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        depth = Math.max(0, depth - 1)
        expectsKey = false
      } else if (byte === COMMA) {
        expectsKey = isObject[depth] === 1
      }
    }
    this.#at = at
    this.#depth = depth
    this.#expectsKey = expectsKey
    return undefined
  }
}

// Allocated once: a scan in one go never overlaps with another.
const scanner = new Scanner()

export function scanJson(bytes: Buffer, mostKeys: number = LIMITS.objectKeys): Scan {
  scanner.begin(mostKeys)
  const refused = scanner.step(bytes, bytes.length)
  scanner.end()
  return { refused, hasBadText: scanner.hasBadText }
}

/** Like `scanJson`, with pauses for a large body. */
export function* scanningJson(bytes: Buffer, mostKeys: number = LIMITS.objectKeys): Pausing<Scan> {
  const own = new Scanner()
  own.begin(mostKeys)
  while (!own.isAtEnd(bytes)) {
    const refused = own.step(bytes, STEP_BYTES)
    if (refused !== undefined) return { refused, hasBadText: own.hasBadText }
    yield
  }
  return { refused: undefined, hasBadText: own.hasBadText }
}

/**
 * Most strings end within a few bytes; only for a long stretch without escapes a native search pays
 * off.
 */
const STRETCH = 64
const DENSE_STRETCH = 4_096

/**
 * Position after the end of the string that begins at `start`, after its quote; or the end of the
 * text.
 */
export function endOfText(bytes: Buffer, start: number): number {
  const { length } = bytes
  let at = start
  let quote = -1
  let stretchEnd = at + STRETCH
  while (at < length) {
    if (at >= stretchEnd) {
      // Kept while it lies ahead: searching again after every escape would be quadratic.
      if (quote < at) quote = bytes.indexOf(QUOTE, at)
      if (quote < 0) return length
      const plain = bytes.subarray(at, quote).indexOf(BACKSLASH)
      if (plain < 0) return quote
      at += plain
      // Where escapes are dense, a native search for each costs more than it saves.
      stretchEnd = at + (plain < STRETCH ? DENSE_STRETCH : STRETCH)
    }
    const byte = bytes[at]
    if (byte === QUOTE) return at
    at += byte === BACKSLASH ? escapeLength(bytes, at) : 1
  }
  return length
}

/** Length of the escape at `at`. Notes an escape that encodes characters the store refuses. */
function escapeLength(bytes: Buffer, at: number): number {
  if (bytes[at + 1] !== LETTER_U) return 2
  const unit = hexUnit(bytes, at + 2)
  if (unit !== 0 && (unit < 0xd800 || unit > 0xdfff)) return 6
  const hasPartner = bytes[at + 6] === BACKSLASH && bytes[at + 7] === LETTER_U
  const low = hasPartner && unit >= 0xd800 && unit <= 0xdbff ? hexUnit(bytes, at + 8) : 0
  if (low >= 0xdc00 && low <= 0xdfff) return 12
  sawBadText = true
  return 6
}

/**
 * Four hex digits as a number. The result for other characters does not matter: they are not JSON.
 */
function hexUnit(bytes: Buffer, at: number): number {
  let unit = 0
  for (let i = at; i < at + 4; i += 1) {
    const byte = bytes[i] ?? 0
    unit = unit * 16 + (byte <= 0x39 ? byte - 0x30 : (byte & 0x1f) + 9)
  }
  return unit
}
