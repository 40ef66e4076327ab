import { isUtf8 } from 'node:buffer'
import { PunctualError } from '../../core/errors.ts'
import { type Pausing, runWithoutPauses } from '../../core/pausing.ts'
import { parsingJson, PieceError } from './json-pieces.ts'
import { scanJson, scanningJson } from './json-scan.ts'

/**
 * A body up to this size is parsed at once, which takes some milliseconds; a larger one in pieces.
 */
export const PARSED_AT_ONCE_BYTES = 512 * 1024

/**
 * Turns bytes into a value that all later code can trust: one JSON value, bounded, and without
 * dangerous keys.
 */
export function parseJsonBody(
  bytes: Buffer,
  { freeText = [], mostKeys }: JsonAllowance = {},
): unknown {
  checkBytes(bytes)
  const { refused, hasBadText } = scanJson(bytes, mostKeys)
  if (refused !== undefined) throw invalid(`the body is refused: ${refused}`)
  const value = parse(bytes.toString())
  if (hasBadText) runWithoutPauses(refuseBadText(value, [], freeText))
  return value
}

/** Like `parseJsonBody`, with pauses for a large body. */
export function* parsingJsonBody(
  bytes: Buffer,
  { freeText = [], mostKeys }: JsonAllowance = {},
): Pausing<unknown> {
  checkBytes(bytes)
  yield
  const { refused, hasBadText } = yield* scanningJson(bytes, mostKeys)
  if (refused !== undefined) throw invalid(`the body is refused: ${refused}`)
  const value = yield* parsing(bytes)
  if (hasBadText) yield* refuseBadText(value, [], freeText)
  return value
}

function checkBytes(bytes: Buffer): void {
  if (bytes.length === 0) throw invalid('the body is empty')
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    throw invalid('the body starts with a byte order mark')
  }
  if (!isUtf8(bytes)) throw invalid('the body is not UTF-8')
}

/** Exceptions that a route allows. */
export interface JsonAllowance {
  /** Names of fields that accept any text, such as the output of processes. */
  readonly freeText?: readonly string[] | undefined
  /** Per object. */
  readonly mostKeys?: number | undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw notJson(offsetOf(text, error), error)
  }
}

function* parsing(bytes: Buffer): Pausing<unknown> {
  try {
    return yield* parsingJson(bytes)
  } catch (error) {
    if (!(error instanceof PieceError)) throw error
    const { byteOffset, piece } = error
    const before = yield* countCharacters(bytes, byteOffset)
    if (!piece) throw notJson(before, error)
    // The parser got the piece with one extra character in front: a bracket or a quote.
    const inPiece = offsetOf(piece.text, piece.error)
    throw notJson(inPiece === undefined ? undefined : before + inPiece - 1, error)
  }
}

function* countCharacters(bytes: Buffer, end: number): Pausing<number> {
  let count = 0
  for (let from = 0; from < end;) {
    let to = Math.min(end, from + COUNTED_BYTES)
    while (to < end && ((bytes[to] as number) & 0xc0) === 0x80) to += 1
    count += bytes.toString('utf8', from, to).length
    from = to
    yield
  }
  return count
}

const COUNTED_BYTES = 1024 * 1024

function notJson(at: number | undefined, cause: unknown): PunctualError {
  const where = at === undefined ? '' : ` at character ${at}`
  return invalid(`the body is not valid JSON${where}`, { cause })
}

function invalid(message: string, options?: ErrorOptions): PunctualError {
  return new PunctualError('invalid_json', message, options)
}

const POSITION = /at position (\d+)/
const ENDED = 'Unexpected end of JSON input'
/** Locating parses the text about sixteen times, so only texts of moderate size are located. */
const LOCATABLE = 64 * 1024

/**
 * V8 gives the position of every error except an unexpected token. That one is found by bisection:
 * the shortest prefix that fails because of a token ends with it.
 */
function offsetOf(text: string, error: unknown): number | undefined {
  const { message } = error as Error
  const position = POSITION.exec(message)
  if (position) return Number(position[1])
  if (message === ENDED) return text.length
  if (text.length > LOCATABLE) return undefined
  let good = 0
  let bad = text.length
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    if (failsByToken(text.slice(0, middle))) bad = middle
    else good = middle
  }
  return bad - 1
}

function failsByToken(text: string): boolean {
  try {
    JSON.parse(text)
    return false
  } catch (error) {
    const { message } = error as Error
    return message !== ENDED && !POSITION.test(message)
  }
}

function badText(path: readonly string[]): PunctualError {
  const field = path.join('.')
  const message = `${field || 'the body'} must not contain NUL or half of a surrogate pair`
  return new PunctualError('invalid_field', message, field ? { field } : {})
}

/** The scan found a bad escape; the parsed value shows in which field. */
function* refuseBadText(
  value: unknown,
  path: readonly string[],
  freeText: readonly string[],
): Pausing<void> {
  if (typeof value === 'string' && !isStorable(value)) throw badText(path)
  if (typeof value !== 'object' || value === null) return
  let checked = 0
  for (const key in value) {
    // A bad key cannot be shown in a path, so its object is named.
    if (!isStorable(key)) throw badText(path)
    if (freeText.includes(key)) continue
    const inner = (value as Readonly<Record<string, unknown>>)[key]
    if (typeof inner === 'string' ? !isStorable(inner) : isNested(inner)) {
      yield* refuseBadText(inner, [...path, key], freeText)
    }
    checked += 1
    if (checked % CHECKED_AT_ONCE === 0) yield
  }
}

const CHECKED_AT_ONCE = 1_000

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}
