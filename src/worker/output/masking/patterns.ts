import { formsOf } from './forms.ts'

/** Forms are searched in pieces of at most this many bytes, so that little has to be held back. */
const LONGEST = 128
/** The minimal length of a pattern: the lookup key is made of these bytes. */
const KEY_BYTES = 4

/** The patterns to search, indexed so that bytes that begin none are skipped quickly. */
export interface Patterns {
  /** Length of the longest pattern. */
  readonly longest: number
  /** 1 at `first << 8 | second` where those two bytes begin a pattern. */
  readonly beginnings: Uint8Array
  /** Length of the longest pattern at this position; 0 if there is none. */
  lengthAt(data: Buffer, at: number): number
  /**
   * Length of the shortest pattern that could begin here if more bytes came; 0 if there is none.
   */
  partialAt(data: Buffer, at: number): number
}

export function patternsOf(values: readonly string[]): Patterns {
  const byKey = new Map<number, Buffer[]>()
  const firsts = new Uint8Array(256)
  const beginnings = new Uint8Array(256 * 256)
  const triples = new Set<number>()
  let longest = 0

  const add = (pattern: Buffer) => {
    const key = pattern.readUInt32BE(0)
    const known = byKey.get(key)
    if (known) known.push(pattern)
    else byKey.set(key, [pattern])
    firsts[key >>> 24] = 1
    beginnings[key >>> 16] = 1
    triples.add(key >>> 8)
    longest = Math.max(longest, pattern.length)
  }
  const pieces = new Set(values.flatMap((value) => [...formsOf(value)]).flatMap(splitForm))
  for (const piece of pieces) add(Buffer.from(piece, 'latin1'))
  for (const candidates of byKey.values()) candidates.sort((a, b) => b.length - a.length)

  return {
    longest,
    beginnings,

    lengthAt(data, at) {
      if (data.length - at < KEY_BYTES) return 0
      const candidates = byKey.get(data.readUInt32BE(at))
      const found = candidates?.find((pattern) => matchesAt(pattern, data, at, pattern.length))
      return found?.length ?? 0
    },

    partialAt(data, at) {
      const left = data.length - at
      if (left >= KEY_BYTES) {
        const candidates = byKey.get(data.readUInt32BE(at))
        const partial = candidates?.findLast(
          (pattern) => pattern.length > left && matchesAt(pattern, data, at, left),
        )
        return partial?.length ?? 0
      }
      if (left === 3) return triples.has(data.readUIntBE(at, 3)) ? KEY_BYTES : 0
      if (left === 2) return beginnings[data.readUInt16BE(at)] ? KEY_BYTES : 0
      return firsts[data[at] as number] ? KEY_BYTES : 0
    },
  }
}

function matchesAt(pattern: Buffer, data: Buffer, at: number, length: number): boolean {
  if (data.length - at < length) return false
  return pattern.compare(data, at, at + length, 0, length) === 0
}

/**
 * Splits a form into pieces of nearly the same length. Output that contains the form contains all
 * pieces in sequence.
 */
function splitForm(form: string): string[] {
  const count = Math.ceil(form.length / LONGEST)
  const edge = (index: number) => Math.floor((index * form.length) / count)
  return Array.from({ length: count }, (_, index) => form.slice(edge(index), edge(index + 1)))
}
