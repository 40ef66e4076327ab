import { randomInt } from 'node:crypto'
import { LIMITS } from '../../core/limits.ts'

const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype'])
/** Keys compared by hash, one by one; larger objects move on to a set. */
const FEW = 16
const BACKSLASH = 0x5c
/** Odd, and unknown outside this process: nobody can prepare keys whose hashes collide. */
const FACTOR = randomInt(2 ** 30) * 2 + 1

// Scratch space per depth. Scans never overlap: each runs to its end on the one thread.
const counts = new Int32Array(LIMITS.jsonDepth + 1)
const hashes = new Int32Array((LIMITS.jsonDepth + 1) * FEW)
const starts = new Int32Array((LIMITS.jsonDepth + 1) * FEW)
const ends = new Int32Array((LIMITS.jsonDepth + 1) * FEW)
const sets: (Set<string> | undefined)[] = []
let mostKeys = 0

/** A scan begins, in which no object may have more keys than this. */
export function allowKeys(most: number): void {
  mostKeys = most
}

/** An object begins at this depth; it has no keys yet. */
export function startKeys(depth: number): void {
  counts[depth] = 0
}

export function forgetKeys(): void {
  sets.length = 0
}

/** Why the key between `start` and `end` may not stand in the object at `depth`, if it may not. */
export function refuseKey(
  bytes: Buffer,
  depth: number,
  start: number,
  end: number,
): string | undefined {
  const size = end - start
  let hash = 0
  let isEscaped = false
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] as number
    if (byte === BACKSLASH) isEscaped = true
    hash = (Math.imul(hash, FACTOR) + byte) | 0
  }
  // The forbidden names have 9 or 11 letters, so most keys need not become strings at all; but an
  // escape can hide a name from its bytes, and such a key is judged by what it spells.
  if (isEscaped || size === 9 || size === 11) {
    const name = decode(bytes, start, end)
    if (FORBIDDEN.has(name)) return `the key "${name}" is not allowed`
    if (isEscaped) hash = hashOf(Buffer.from(name))
  }
  const count = counts[depth] as number
  counts[depth] = count + 1
  if (count >= mostKeys) return `one object has more than ${mostKeys} keys`
  if (count >= FEW) return refuseAmongMany(bytes, depth, start, end)
  return refuseAmongFew(bytes, depth * FEW, count, start, end, hash)
}

function refuseAmongFew(
  bytes: Buffer,
  base: number,
  count: number,
  start: number,
  end: number,
  hash: number,
): string | undefined {
  for (let slot = base; slot < base + count; slot += 1) {
    if (hashes[slot] !== hash) continue
    const earlier = decode(bytes, starts[slot] as number, ends[slot] as number)
    if (earlier === decode(bytes, start, end)) return repeated(earlier)
  }
  hashes[base + count] = hash
  starts[base + count] = start
  ends[base + count] = end
  return undefined
}

function refuseAmongMany(
  bytes: Buffer,
  depth: number,
  start: number,
  end: number,
): string | undefined {
  if (counts[depth] === FEW + 1) sets[depth] = fewAsSet(bytes, depth)
  const known = sets[depth] as Set<string>
  const key = decode(bytes, start, end)
  if (known.has(key)) return repeated(key)
  known.add(key)
  return undefined
}

function fewAsSet(bytes: Buffer, depth: number): Set<string> {
  const few = new Set<string>()
  for (let slot = depth * FEW; slot < (depth + 1) * FEW; slot += 1) {
    few.add(decode(bytes, starts[slot] as number, ends[slot] as number))
  }
  return few
}

function decode(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString('utf8', start, end)
  if (!text.includes('\\')) return text
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    return text
  }
}

function hashOf(bytes: Buffer): number {
  let hash = 0
  for (const byte of bytes) hash = (Math.imul(hash, FACTOR) + byte) | 0
  return hash
}

function repeated(key: string): string {
  const shown = key.length > 40 ? `${key.slice(0, 40)}…` : key
  return `the key "${shown}" appears twice in one object`
}
