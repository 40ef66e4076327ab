import { LIMITS } from '../../core/limits.ts'
import type { Pausing } from '../../core/pausing.ts'
import { endOfText } from './json-scan.ts'

/** Bytes given to `JSON.parse` at once, or slightly more: a millisecond of work. */
const PIECE_BYTES = 64 * 1024

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
const LETTER_U = 0x75
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

type Container = unknown[] | Record<string, unknown>

/** Malformed JSON, and its position; `message` is the parser's own if it had one. */
export class PieceError extends Error {
  readonly byteOffset: number
  /** The input and error of `JSON.parse`, if it found the error. */
  readonly piece: { readonly text: string; readonly error: unknown } | undefined

  constructor(byteOffset: number, piece?: { text: string; error: unknown }) {
    super('not valid JSON')
    this.byteOffset = byteOffset
    this.piece = piece
  }
}

/**
 * A list or object that is being read; it has a value of its own once one piece of it was parsed.
 */
interface Level {
  isObject: boolean
  start: number
  /** Start of the bytes that are not parsed yet. */
  from: number
  /** Start of the current item, after the last comma. */
  itemStart: number
  /** The quotes of the last key. */
  keyStart: number
  keyEnd: number
  value: Container | undefined
  /** The last value was parsed separately: only a comma or the end may follow. */
  needsComma: boolean
}

/**
 * Computes the result of `JSON.parse` one piece at a time. Neighbouring small items are parsed
 * together; a list, object or string larger than a piece is assembled from its pieces. The bytes
 * must have passed `scanJson`, so the nesting is bounded and no key is dangerous.
 */
export function* parsingJson(bytes: Buffer, pieceBytes = PIECE_BYTES): Pausing<unknown> {
  return yield* new PieceParser(bytes, pieceBytes).parse()
}

class PieceParser {
  readonly #bytes: Buffer
  readonly #pieceBytes: number
  readonly #levels: Level[] = Array.from({ length: LIMITS.jsonDepth + 1 }, emptyLevel)
  #depth = 0

  constructor(bytes: Buffer, pieceBytes: number) {
    this.#bytes = bytes
    this.#pieceBytes = pieceBytes
  }

  /** The text is read as if it were inside a list, which has one item at the end. */
  *parse(): Pausing<unknown> {
    const bytes = this.#bytes
    const { length } = bytes
    let pauseAt = this.#pieceBytes
    let expectsKey = false
    for (let at = 0; at < length; at += 1) {
      if (at >= pauseAt) {
        yield
        pauseAt = at + this.#pieceBytes
      }
      const byte = bytes[at] as number
      const level = this.#levels[this.#depth] as Level
      if (byte === QUOTE) {
        const end = endOfText(bytes, at + 1)
        if (end >= length) throw new PieceError(length)
        if (expectsKey) {
          expectsKey = false
          level.keyStart = at
          level.keyEnd = end
        } else if (end - at > this.#pieceBytes) {
          this.#put(level, at, end + 1, yield* parsingText(bytes, at + 1, end, this.#pieceBytes))
        }
        at = end
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        expectsKey = byte === OPEN_OBJECT
        this.#open(at, expectsKey)
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        expectsKey = false
        this.#close(at, byte === CLOSE_OBJECT)
      } else if (byte === COMMA) {
        expectsKey = level.isObject
        this.#comma(level, at)
      }
    }
    return this.#end(length)
  }

  #open(at: number, isObject: boolean): void {
    this.#depth += 1
    const level = this.#levels[this.#depth]
    if (!level) throw new PieceError(at)
    level.isObject = isObject
    level.start = at
    level.from = at + 1
    level.itemStart = at + 1
    level.keyStart = -1
    level.value = undefined
    level.needsComma = false
  }

  #comma(level: Level, at: number): void {
    if (level.needsComma) {
      this.#requireSpace(level.from, at)
      level.needsComma = false
      level.from = at + 1
    } else if (at - level.from >= this.#pieceBytes) {
      if (this.#add(level, at) === 0) throw new PieceError(at)
      level.from = at + 1
    }
    level.itemStart = at + 1
  }

  #close(at: number, isObject: boolean): void {
    const level = this.#levels[this.#depth] as Level
    if (this.#depth === 0) throw new PieceError(at)
    this.#depth -= 1
    // It is small: its bytes are parsed together with those around it.
    if (!level.value && at - level.from < this.#pieceBytes) return
    if (level.isObject !== isObject) throw new PieceError(at)
    this.#finish(level, at)
    this.#put(this.#levels[this.#depth] as Level, level.start, at + 1, level.value)
    level.value = undefined
  }

  #end(length: number): unknown {
    if (this.#depth > 0) throw new PieceError(length)
    const level = this.#levels[0] as Level
    this.#finish(level, length)
    const items = level.value as unknown[]
    if (items.length !== 1) throw new PieceError(length)
    return items[0]
  }

  /** Parses the rest before the end of a level. */
  #finish(level: Level, at: number): void {
    if (level.needsComma) this.#requireSpace(level.from, at)
    else {
      const isBehindComma = level.value !== undefined
      if (this.#add(level, at) === 0 && isBehindComma) throw new PieceError(at)
    }
  }

  /** Inserts a separately parsed value. */
  #put(level: Level, start: number, end: number, value: unknown): void {
    if (level.needsComma) throw new PieceError(start)
    const { itemStart } = level
    // The comma after it is not part of the preceding items.
    if (itemStart > level.from && this.#add(level, itemStart - 1) === 0)
      throw new PieceError(itemStart - 1)
    if (level.isObject) {
      level.value ??= {}
      set(level.value as Record<string, unknown>, this.#keyBefore(level, start), value)
    } else {
      this.#requireSpace(itemStart, start)
      level.value ??= []
      ;(level.value as unknown[]).push(value)
    }
    level.from = end
    level.needsComma = true
  }

  #keyBefore({ itemStart, keyStart, keyEnd }: Level, start: number): string {
    if (keyStart < itemStart) throw new PieceError(start)
    this.#requireSpace(itemStart, keyStart)
    const colon = this.#skipSpace(keyEnd + 1)
    if (this.#bytes[colon] !== COLON) throw new PieceError(colon)
    this.#requireSpace(colon + 1, start)
    const [key] = Object.keys(this.#parsed(keyStart, keyEnd + 1, '{', ':0}'))
    return key as string
  }

  /** Adds the items up to `at` and returns their number. */
  #add(level: Level, at: number): number {
    if (level.isObject) {
      const some = this.#parsed(level.from, at, '{', '}') as Record<string, unknown>
      const all = (level.value ??= {}) as Record<string, unknown>
      let count = 0
      for (const key in some) {
        set(all, key, some[key])
        count += 1
      }
      return count
    }
    const some = this.#parsed(level.from, at, '[', ']') as unknown[]
    if (level.value) for (const item of some) (level.value as unknown[]).push(item)
    else level.value = some
    return some.length
  }

  #parsed(start: number, end: number, open: string, close: string): object {
    const text = `${open}${this.#bytes.toString('utf8', start, end)}${close}`
    try {
      return JSON.parse(text) as object
    } catch (error) {
      throw new PieceError(start, { text, error })
    }
  }

  #requireSpace(start: number, end: number): void {
    const at = this.#skipSpace(start)
    if (at < end) throw new PieceError(at)
  }

  #skipSpace(start: number): number {
    let at = start
    while (isSpace(this.#bytes[at])) at += 1
    return at
  }
}

/** Like `JSON.parse`: `__proto__` is an ordinary key. */
function set(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value
  else {
    const isOwn = { enumerable: true, configurable: true, writable: true }
    Object.defineProperty(object, key, { value, ...isOwn })
  }
}

function emptyLevel(): Level {
  return {
    isObject: false,
    start: 0,
    from: 0,
    itemStart: 0,
    keyStart: -1,
    keyEnd: -1,
    value: undefined,
    needsComma: false,
  }
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** Parses a long string, from its first quote to its last. */
function* parsingText(
  bytes: Buffer,
  start: number,
  end: number,
  pieceBytes: number,
): Pausing<string> {
  const parts: string[] = []
  for (let from = start; from < end;) {
    const to = cutBehind(bytes, from, from + pieceBytes, end)
    const text = `"${bytes.toString('utf8', from, to)}"`
    try {
      parts.push(JSON.parse(text) as string)
    } catch (error) {
      throw new PieceError(from, { text, error })
    }
    from = to
    yield
  }
  return parts.join('')
}

/**
 * End of the piece of a string that begins at `from`, so that no character or escape is cut in two.
 */
function cutBehind(bytes: Buffer, from: number, at: number, end: number): number {
  if (at >= end) return end
  let cut = at
  // An escape has at most six bytes: `\\u` and four digits.
  for (let begin = at - 1; begin > at - 6 && begin >= from; begin -= 1) {
    if (bytes[begin] !== BACKSLASH) continue
    let first = begin
    while (first > from && bytes[first - 1] === BACKSLASH) first -= 1
    // In a row of backslashes, each second one is escaped.
    if ((begin - first) % 2 === 0) cut = begin + (bytes[begin + 1] === LETTER_U ? 6 : 2)
    break
  }
  cut = Math.max(cut, at)
  while (cut < end && ((bytes[cut] as number) & 0xc0) === 0x80) cut += 1
  return Math.min(cut, end)
}
