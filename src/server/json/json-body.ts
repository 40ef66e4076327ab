import { isUtf8 } from 'node:buffer'
import { PunctualError } from '../../core/errors.ts'
import { scanJson } from './json-scan.ts'

/**
 * Bytes become a value that every later step may trust: one JSON value, bounded, without traps.
 */
export function parseJsonBody(
  bytes: Buffer,
  { freeText = [], mostKeys }: JsonAllowance = {},
): unknown {
  if (bytes.length === 0) throw invalid('the body is empty')
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    throw invalid('the body starts with a byte order mark')
  }
  if (!isUtf8(bytes)) throw invalid('the body is not UTF-8')
  const { refused, hasBadText } = scanJson(bytes, mostKeys)
  if (refused !== undefined) throw invalid(`the body is refused: ${refused}`)
  const value = parse(bytes.toString())
  const bad = hasBadText ? findBadText(value, [], freeText) : undefined
  if (bad) throw badText(bad)
  return value
}

/** What a route takes that others do not. */
export interface JsonAllowance {
  /** Names under which any text goes: what processes print is not ours to choose. */
  readonly freeText?: readonly string[] | undefined
  /** Of one object. */
  readonly mostKeys?: number | undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const at = offsetOf(text, error)
    const where = at === undefined ? '' : ` at character ${at}`
    throw invalid(`the body is not valid JSON${where}`, { cause: error })
  }
}

function invalid(message: string, options?: ErrorOptions): PunctualError {
  return new PunctualError('invalid_json', message, options)
}

const POSITION = /at position (\d+)/
const ENDED = 'Unexpected end of JSON input'
/** Locating parses the text some sixteen times over, so only modest ones are located. */
const LOCATABLE = 64 * 1024

/**
 * V8 names the place of every error except an unexpected token. That one is found by halving: the
 * shortest prefix that already fails because of a token ends with it.
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

/** The scan saw a bad escape somewhere; the value knows under which name. */
function findBadText(
  value: unknown,
  path: readonly string[],
  freeText: readonly string[],
): readonly string[] | undefined {
  if (typeof value === 'string') return isStorable(value) ? undefined : path
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, inner] of Object.entries(value)) {
    // A bad key cannot be shown as part of a path; the object that has it can.
    if (!isStorable(key)) return path
    if (freeText.includes(key)) continue
    const found = findBadText(inner, [...path, key], freeText)
    if (found) return found
  }
  return undefined
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}
