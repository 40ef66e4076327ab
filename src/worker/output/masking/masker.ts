import { LIMITS } from '../../../core/limits.ts'
import type { GivenSecret } from '../../../core/secrets/secret.ts'
import { ByteMask, MARK } from './byte-mask.ts'
import { type Patterns, patternsOf } from './patterns.ts'

/**
 * Removes the secrets of one attempt from everything that leaves its worker. It runs before the
 * output is split into lines, cut, shortened or shown: every new output path must pass through
 * here.
 */
export interface Masker {
  /** Masks one stream of bytes; each stream needs its own. */
  stream(): MaskedStream
  text(text: string): string
  /** Masks the text of a result, which stays JSON. */
  result(json: string): string
}

export interface MaskedStream {
  push(bytes: Buffer): Buffer
  /** Returns the held bytes, which could have been the beginning of a secret. */
  end(): Buffer
}

const NOTHING = Buffer.alloc(0)

const passing: MaskedStream = { push: (bytes) => bytes, end: () => NOTHING }

/** For attempts without secrets, which are most: it costs nothing. */
export const NO_MASKING: Masker = {
  stream: () => passing,
  text: (text) => text,
  result: (json) => json,
}

export function maskerOf({ secrets }: { readonly secrets?: readonly GivenSecret[] }): Masker {
  if (secrets === undefined || secrets.length === 0) return NO_MASKING
  const patterns = cachedPatterns(secrets.map(({ value }) => value))
  const text = (given: string) => maskText(given, patterns)
  return {
    stream: () => new ByteMask(patterns),
    text,
    result: (json) => maskResult(json, text),
  }
}

/**
 * Attempts of one job request the same secrets again and again; preparing the patterns takes
 * milliseconds.
 */
const CACHED_PATTERNS = 16
const patternCache = new Map<string, Patterns>()

function cachedPatterns(values: readonly string[]): Patterns {
  const key = JSON.stringify(values)
  const known = patternCache.get(key)
  if (known) return known
  const patterns = patternsOf(values)
  if (patternCache.size >= CACHED_PATTERNS) patternCache.clear()
  patternCache.set(key, patterns)
  return patterns
}

function maskText(text: string, patterns: Patterns): string {
  const mask = new ByteMask(patterns)
  const bytes = Buffer.concat([mask.push(Buffer.from(text)), mask.end()])
  return mask.hasMasked ? bytes.toString() : text
}

/**
 * Masks the text as written, as re-serialised (JSON has many spellings for one text), and the
 * strings in it, which may contain JSON again. If masking breaks the JSON, the result becomes a
 * string.
 */
function maskResult(json: string, mask: (text: string) => string): string {
  const masked = asJson(mask(json))
  const inPlace = JSON.stringify(JSON.parse(masked))
  const inner = JSON.stringify(
    JSON.parse(masked, (_key, value: unknown) => maskInside(value, mask)),
  )
  const again = mask(inner)
  return again === inPlace ? masked : asJson(again)
}

/**
 * Characters that JSON escapes: only strings with these can contain a secret that was missed so
 * far.
 */
const WRITTEN_OTHERWISE = /[\\\n\r]/

function maskInside(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return WRITTEN_OTHERWISE.test(value) ? mask(value) : value
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value)
  if (!entries.some(([key]) => WRITTEN_OTHERWISE.test(key))) return value
  return Object.fromEntries(entries.map(([key, one]) => [mask(key), one]))
}

/** JSON that is serialised again may be longer than before: `1e20` becomes 21 digits. */
function asJson(masked: string): string {
  const json = isJson(masked) ? masked : JSON.stringify(masked)
  return Buffer.byteLength(json) > LIMITS.resultBytes ? JSON.stringify(MARK) : json
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
