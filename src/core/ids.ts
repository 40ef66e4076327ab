import type { Random } from './clock.ts'
import { randomInt } from './clock.ts'
import { PunctualError } from './errors.ts'

/**
 * An id has 53 bits, so it is exact in a JavaScript number and in both databases: 41 bits of milliseconds since 2025,
 * 5 bits of node slot, 7 bits of sequence. Ids sort by time, so they serve as keys for history, paging and retention.
 */
export const ID_EPOCH_MS = Date.UTC(2025, 0, 1)
export const SLOTS = 32
const SEQUENCES = 128
/** Ids per millisecond over all slots: the distance between two milliseconds in id space. */
export const IDS_PER_MS = SLOTS * SEQUENCES

/** Maximum distance between minted ids and the trusted clock; a slot that is further ahead is not used. */
export const MAX_ID_LEAD_MS = 60_000

/** The smallest id of a run minted at `ms` (wall time). */
export function idAtMs(ms: number): number {
  return Math.max(0, ms - ID_EPOCH_MS) * IDS_PER_MS
}

/** The wall time at which an id was minted, in milliseconds. */
export function msOfId(id: number): number {
  return Math.floor(id / IDS_PER_MS) + ID_EPOCH_MS
}

export function slotOfId(id: number): number {
  return Math.floor(id / SEQUENCES) % SLOTS
}

export interface Minter {
  /** A new id, above every id that this minter returned before, whatever the clock does. */
  mint(): number
  /** The highest id minted so far. */
  readonly mark: number
}

/**
 * Mints ids for one slot without coordination. `floor` is the stored high-water mark of the slot: an earlier owner
 * may have minted every id up to it. When the sequence of a millisecond is used up, or the clock stepped back, ids
 * borrow from later milliseconds.
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
    // The random start makes the last characters of public ids differ, so that a short suffix identifies a run.
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
export type IdKind = 'run' | 'job' | 'ses' | 'wrk' | 'lane' | 'dlv' | 'sch' | 'bkf'

/** All pairs of characters: building ids from pairs halves the work of a frequent operation. */
const PAIRS = Array.from(
  { length: 1024 },
  (_, pair) => ALPHABET.charAt(pair >> 5) + ALPHABET.charAt(pair & 31),
)

/** `run_…`, `ses_…`: fixed length, lower case, without letters that look like digits. */
export function publicId(kind: IdKind, id: number): string {
  const high = Math.floor(id / 2 ** 30)
  const low = id % 2 ** 30
  return `${kind}_${ALPHABET.charAt(high >>> 20)}${PAIRS[(high >>> 10) & 1023]}${PAIRS[high & 1023]}${
    PAIRS[low >>> 20]
  }${PAIRS[(low >>> 10) & 1023]}${PAIRS[low & 1023]}`
}

/**
 * The value of each character code; 255 for characters that ids do not use. ASCII only: the Kelvin sign is not a k.
 */
const VALUES = new Uint8Array(128).fill(255)
for (const [value, char] of [...ALPHABET].entries()) {
  VALUES[char.charCodeAt(0)] = value
  VALUES[char.toUpperCase().charCodeAt(0)] = value
}
for (const [typed, meant] of ['i1', 'I1', 'l1', 'L1', 'o0', 'O0'].map((pair) => pair.split(''))) {
  VALUES[(typed as string).charCodeAt(0)] = ALPHABET.indexOf(meant as string)
}

/** Reads a public id as users type it (any case, `o` for 0); `undefined` for anything else. */
export function parsePublicId(kind: IdKind, text: string): number | undefined {
  const start = kind.length + 1
  if (text.length !== start + LENGTH || !text.startsWith(kind) || text[kind.length] !== '_') {
    return undefined
  }
  let id = 0
  for (let i = start; i < text.length; i += 1) {
    const value = VALUES[text.charCodeAt(i)] ?? 255
    if (value === 255) return undefined
    id = id * 32 + value
  }
  return id <= Number.MAX_SAFE_INTEGER ? id : undefined
}

/** Like `parsePublicId`, for a field of a request: throws an error that names the field. */
export function requirePublicId(kind: IdKind, text: string, field: string): number {
  const id = parsePublicId(kind, text)
  if (id !== undefined) return id
  throw new PunctualError('invalid_id', `${field} is not a ${kind} id`, { field })
}
