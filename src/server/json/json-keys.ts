import { randomInt } from 'node:crypto'
import { LIMITS } from '../../core/limits.ts'

const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype'])
/** Up to this number, keys are compared by hash, one by one; larger objects use a set. */
const MAX_LINEAR_KEYS = 16
const BACKSLASH = 0x5c
/** Odd, and unknown outside this process: an attacker cannot prepare keys whose hashes collide. */
const HASH_FACTOR = randomInt(2 ** 30) * 2 + 1

/** The keys of the objects that contain the current position of a scan, by depth. */
export class KeyCheck {
  readonly #counts = new Int32Array(LIMITS.jsonDepth + 1)
  readonly #hashes = new Int32Array((LIMITS.jsonDepth + 1) * MAX_LINEAR_KEYS)
  readonly #starts = new Int32Array((LIMITS.jsonDepth + 1) * MAX_LINEAR_KEYS)
  readonly #ends = new Int32Array((LIMITS.jsonDepth + 1) * MAX_LINEAR_KEYS)
  readonly #sets: (Set<string> | undefined)[] = []
  #mostKeys = 0

  /** Starts a scan in which no object may have more keys than this. */
  begin(mostKeys: number): void {
    this.#mostKeys = mostKeys
  }

  /** An object begins at this depth; it has no keys yet. */
  startObject(depth: number): void {
    this.#counts[depth] = 0
  }

  end(): void {
    this.#sets.length = 0
  }

  /** Why the key between `start` and `end` is not allowed in the object at `depth`, if so. */
  refuse(bytes: Buffer, depth: number, start: number, end: number): string | undefined {
    const size = end - start
    let hash = 0
    let isEscaped = false
    for (let at = start; at < end; at += 1) {
      const byte = bytes[at] as number
      if (byte === BACKSLASH) isEscaped = true
      hash = (Math.imul(hash, HASH_FACTOR) + byte) | 0
    }
    // The forbidden names have 9 or 11 letters, so most keys need not become strings. An escape can
    // hide a name, so a key with escapes is decoded.
    if (isEscaped || size === 9 || size === 11) {
      const name = decode(bytes, start, end)
      if (FORBIDDEN.has(name)) return `the key "${name}" is not allowed`
      if (isEscaped) hash = hashOf(Buffer.from(name))
    }
    const count = this.#counts[depth] as number
    this.#counts[depth] = count + 1
    if (count >= this.#mostKeys) return `one object has more than ${this.#mostKeys} keys`
    if (count >= MAX_LINEAR_KEYS) return this.#refuseAmongMany(bytes, depth, start, end)
    return this.#refuseAmongFew(bytes, depth * MAX_LINEAR_KEYS, count, start, end, hash)
  }

  #refuseAmongFew(
    bytes: Buffer,
    base: number,
    count: number,
    start: number,
    end: number,
    hash: number,
  ): string | undefined {
    for (let slot = base; slot < base + count; slot += 1) {
      if (this.#hashes[slot] !== hash) continue
      const earlier = decode(bytes, this.#starts[slot] as number, this.#ends[slot] as number)
      if (earlier === decode(bytes, start, end)) return repeated(earlier)
    }
    this.#hashes[base + count] = hash
    this.#starts[base + count] = start
    this.#ends[base + count] = end
    return undefined
  }

  #refuseAmongMany(bytes: Buffer, depth: number, start: number, end: number): string | undefined {
    if (this.#counts[depth] === MAX_LINEAR_KEYS + 1)
      this.#sets[depth] = this.#fewAsSet(bytes, depth)
    const known = this.#sets[depth] as Set<string>
    const key = decode(bytes, start, end)
    if (known.has(key)) return repeated(key)
    known.add(key)
    return undefined
  }

  #fewAsSet(bytes: Buffer, depth: number): Set<string> {
    const few = new Set<string>()
    for (let slot = depth * MAX_LINEAR_KEYS; slot < (depth + 1) * MAX_LINEAR_KEYS; slot += 1) {
      few.add(decode(bytes, this.#starts[slot] as number, this.#ends[slot] as number))
    }
    return few
  }
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
  for (const byte of bytes) hash = (Math.imul(hash, HASH_FACTOR) + byte) | 0
  return hash
}

function repeated(key: string): string {
  const shown = key.length > 40 ? `${key.slice(0, 40)}…` : key
  return `the key "${shown}" appears twice in one object`
}
