import type { Random } from './clock.ts'
import { randomInt } from './clock.ts'
import { PunctualError } from './errors.ts'

/**
 * An id is 53 bits, so it is exact in a JavaScript number and in both databases:
 * 41 bits of milliseconds since 2025, 5 bits of node slot, 7 bits of sequence.
 * Id order is time order, which makes ids the key of history, of paging and of retention.
 */
export const ID_EPOCH_MS = Date.UTC(2025, 0, 1)
export const SLOTS = 32
const SEQUENCES = 128
/** Ids per millisecond over all slots: the distance between two milliseconds in id space. */
export const IDS_PER_MS = SLOTS * SEQUENCES

/** The smallest id that a run minted at `ms` (wall time) can have. */
export function idAtMs(ms: number): number {
  return Math.max(0, ms - ID_EPOCH_MS) * IDS_PER_MS
}

/** The wall time at which an id was minted, to the millisecond. */
export function msOfId(id: number): number {
  return Math.floor(id / IDS_PER_MS) + ID_EPOCH_MS
}

export function slotOfId(id: number): number {
  return Math.floor(id / SEQUENCES) % SLOTS
}

export interface Minter {
  /** A new id, above every id this minter gave before, whatever the clock does. */
  mint(): number
  /** The highest id given so far. */
  readonly mark: number
}

/**
 * Mints ids for one slot without asking anyone. `floor` is the slot's stored high-water mark: an
 * earlier owner may have given out everything up to it. When a millisecond's sequence is used up,
 * or the clock has stepped back, ids borrow from the milliseconds ahead.
 */
export function createMinter(options: {
  slot: number
  floor: number
  now: () => number
  random: Random
}): Minter {
  const { slot, now, random } = options
  let ms = Math.floor(options.floor / IDS_PER_MS)
  let sequence = SEQUENCES
  let mark = options.floor
  const startMillisecond = (next: number) => {
    ms = next
    // A random start keeps the last characters of public ids apart, so a short suffix finds a run.
    sequence = randomInt(random, SEQUENCES / 4)
  }
  return {
    mint() {
      const nowMs = Math.max(0, now() - ID_EPOCH_MS)
      if (nowMs > ms) startMillisecond(nowMs)
      else if (sequence >= SEQUENCES) startMillisecond(ms + 1)
      mark = ms * IDS_PER_MS + slot * SEQUENCES + sequence
      sequence += 1
      return mark
    },
    get mark() {
      return mark
    },
  }
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const LENGTH = 11
export type IdKind = 'run' | 'job' | 'ses' | 'lane'

/** `run_…`, `ses_…`: fixed length, lower case, without letters that read like digits. */
export function publicId(kind: IdKind, id: number): string {
  let text = ''
  for (let rest = id, i = 0; i < LENGTH; i += 1) {
    text = ALPHABET.charAt(rest % 32) + text
    rest = Math.floor(rest / 32)
  }
  return `${kind}_${text}`
}

const VALUES = new Map<string, number>([...ALPHABET].map((char, value) => [char, value]))
for (const [typed, meant] of [
  ['i', '1'],
  ['l', '1'],
  ['o', '0'],
] as const) {
  VALUES.set(typed, ALPHABET.indexOf(meant))
}
// Listed rather than lower-cased: the Kelvin sign lower-cases to `k` and is no character of an id.
for (const [char, value] of [...VALUES]) VALUES.set(char.toUpperCase(), value)

/** Reads a public id as people type it (any case, `o` for 0); `undefined` for anything else. */
export function parsePublicId(kind: IdKind, text: string): number | undefined {
  if (text.length !== kind.length + 1 + LENGTH || !text.startsWith(`${kind}_`)) return undefined
  let id = 0
  for (const char of text.slice(kind.length + 1)) {
    const value = VALUES.get(char)
    if (value === undefined) return undefined
    id = id * 32 + value
  }
  return id <= Number.MAX_SAFE_INTEGER ? id : undefined
}

/** Like `parsePublicId`, for a field of a request: bad text is the caller's error. */
export function requirePublicId(kind: IdKind, text: string, field: string): number {
  const id = parsePublicId(kind, text)
  if (id !== undefined) return id
  throw new PunctualError('invalid_id', `${field} is not a ${kind} id`, { field })
}
