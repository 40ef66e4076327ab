import { formsOf } from './forms.ts'

/** A form is looked for in pieces of at most this many bytes, so that little has to be held back. */
const LONGEST = 128
/** Every pattern has at least this many bytes: they are what it is looked up by. */
const KEY_BYTES = 4

/** What to look for, arranged so that bytes that begin nothing are passed over quickly. */
export interface Patterns {
  /** Of the longest pattern. */
  readonly longest: number
  /** 1 at `first << 8 | second` where those two bytes begin a pattern. */
  readonly beginnings: Uint8Array
  /** How many bytes the longest pattern has that stands at this place; 0 if none does. */
  lengthAt(data: Buffer, at: number): number
  /** The shortest pattern that would begin at this place if more came; 0 if none would. */
  hopeAt(data: Buffer, at: number): number
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
  const pieces = new Set(values.flatMap((value) => [...formsOf(value)]).flatMap(cut))
  for (const piece of pieces) add(Buffer.from(piece, 'latin1'))
  for (const alike of byKey.values()) alike.sort((a, b) => b.length - a.length)

  return {
    longest,
    beginnings,

    lengthAt(data, at) {
      if (data.length - at < KEY_BYTES) return 0
      const alike = byKey.get(data.readUInt32BE(at))
      const found = alike?.find((pattern) => stands(pattern, data, at, pattern.length))
      return found?.length ?? 0
    },

    hopeAt(data, at) {
      const left = data.length - at
      if (left >= KEY_BYTES) {
        const alike = byKey.get(data.readUInt32BE(at))
        const hope = alike?.findLast(
          (pattern) => pattern.length > left && stands(pattern, data, at, left),
        )
        return hope?.length ?? 0
      }
      if (left === 3) return triples.has(data.readUIntBE(at, 3)) ? KEY_BYTES : 0
      if (left === 2) return beginnings[data.readUInt16BE(at)] ? KEY_BYTES : 0
      return firsts[data[at] as number] ? KEY_BYTES : 0
    },
  }
}

function stands(pattern: Buffer, data: Buffer, at: number, length: number): boolean {
  if (data.length - at < length) return false
  return pattern.compare(data, at, at + length, 0, length) === 0
}

/** Pieces of nearly the same length. Whoever prints all of it prints all of them, side by side. */
function cut(form: string): string[] {
  const count = Math.ceil(form.length / LONGEST)
  const edge = (index: number) => Math.floor((index * form.length) / count)
  return Array.from({ length: count }, (_, index) => form.slice(edge(index), edge(index + 1)))
}
