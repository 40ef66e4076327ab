import { LIMITS } from '../../../core/limits.ts'
import type { GivenSecret } from '../../../core/work/secret.ts'
import { ByteMask, MARK } from './byte-mask.ts'
import { type Patterns, patternsOf } from './patterns.ts'

/**
 * Keeps the secrets of one attempt out of everything that leaves its worker. It comes first, before
 * anything is put into lines, cut, shortened or shown: whoever adds a way out passes it through here.
 */
export interface Masker {
  /** A stream of bytes; each stream needs its own. */
  stream(): MaskedStream
  text(text: string): string
  /** The text of a result, which stays JSON. */
  result(json: string): string
}

export interface MaskedStream {
  push(bytes: Buffer): Buffer
  /** What was held back, because it could have been the beginning of a secret. */
  end(): Buffer
}

const NOTHING = Buffer.alloc(0)

const passing: MaskedStream = { push: (bytes) => bytes, end: () => NOTHING }

/** For attempts without secrets, which are most: it costs nothing. */
export const BLIND: Masker = { stream: () => passing, text: (text) => text, result: (json) => json }

export function maskerOf({ secrets }: { readonly secrets?: readonly GivenSecret[] }): Masker {
  if (secrets === undefined || secrets.length === 0) return BLIND
  const patterns = recall(secrets.map(({ value }) => value))
  const text = (given: string) => maskText(given, patterns)
  return {
    stream: () => new ByteMask(patterns),
    text,
    result: (json) => maskResult(json, text),
  }
}

/** Attempts of one job ask for the same secrets again and again; arranging them takes milliseconds. */
const REMEMBERED = 16
const memory = new Map<string, Patterns>()

function recall(values: readonly string[]): Patterns {
  const key = JSON.stringify(values)
  const known = memory.get(key)
  if (known) return known
  const patterns = patternsOf(values)
  if (memory.size >= REMEMBERED) memory.clear()
  memory.set(key, patterns)
  return patterns
}

function maskText(text: string, patterns: Patterns): string {
  const mask = new ByteMask(patterns)
  const bytes = Buffer.concat([mask.push(Buffer.from(text)), mask.end()])
  return mask.hasMasked ? bytes.toString() : text
}

/**
 * As it is written, as whoever reads and writes it again would write it, because JSON has many spellings
 * for one text, and as the texts in it are read: they may be JSON again. A mark that leaves no JSON
 * makes a text of it.
 */
function maskResult(json: string, mask: (text: string) => string): string {
  const masked = asJson(mask(json))
  const plain = JSON.stringify(JSON.parse(masked))
  const inner = JSON.stringify(
    JSON.parse(masked, (_key, value: unknown) => maskInside(value, mask)),
  )
  const again = mask(inner)
  return again === plain ? masked : asJson(again)
}

/** Only what JSON writes in another way than it is can have been overlooked so far. */
const WRITTEN_OTHERWISE = /[\\\n\r]/

function maskInside(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return WRITTEN_OTHERWISE.test(value) ? mask(value) : value
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value)
  if (!entries.some(([key]) => WRITTEN_OTHERWISE.test(key))) return value
  return Object.fromEntries(entries.map(([key, one]) => [mask(key), one]))
}

/** Written again, JSON may be longer than it was: `1e20` has 21 digits then. */
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
