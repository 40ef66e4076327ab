import type { Patterns } from './patterns.ts'

/**
 * Replaces a secret. No longer than the shortest secret, so masked text never exceeds a length
 * limit.
 */
export const MARK = '***'
const MARK_BYTES = Buffer.from(MARK)
const NOTHING = Buffer.alloc(0)

/**
 * Masks secrets in a stream of bytes, however the stream is split. Holds back only the bytes at its
 * end that could be the beginning of a secret. Secrets that overlap or touch become one mark that
 * covers all of their bytes.
 */
export class ByteMask {
  readonly #patterns: Patterns
  #held: Buffer = NOTHING
  /** Number of held bytes at the start that are already covered; -1 if no mark touches them. */
  #covered = -1
  /** Whether a secret was masked. */
  hasMasked = false

  constructor(patterns: Patterns) {
    this.#patterns = patterns
  }

  /** Returns what may be passed on now. */
  push(bytes: Buffer): Buffer {
    const data = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes])
    const end = this.#firstPartial(data, () => true)
    const shown = this.#mask(data, end, end)
    // A copy: the held bytes must not keep the whole input buffer alive.
    this.#held = end === data.length ? NOTHING : Buffer.from(data.subarray(end))
    return shown
  }

  /** Returns the rest. A truncated secret is masked too, if at least half of it is there. */
  end(): Buffer {
    const data = this.#held
    this.#held = NOTHING
    const isRevealing = (here: number, whole: number) => here > MARK.length && here * 2 >= whole
    return this.#mask(data, data.length, this.#firstPartial(data, isRevealing))
  }

  /** The position where a secret may have begun that has not ended. */
  #firstPartial(data: Buffer, counts: (here: number, whole: number) => boolean): number {
    const from = Math.max(0, data.length - this.#patterns.longest + 1)
    for (let at = from; at < data.length; at += 1) {
      const whole = this.#patterns.partialAt(data, at)
      if (whole > 0 && counts(data.length - at, whole)) return at
    }
    return data.length
  }

  /** Passes on what comes before `end`; everything from `coverFrom` on is masked. */
  #mask(data: Buffer, end: number, coverFrom: number): Buffer {
    const { beginnings } = this.#patterns
    const shown: Buffer[] = []
    let covered = this.#covered
    const cover = (from: number, to: number) => {
      if (from > covered) {
        if (from > 0) shown.push(data.subarray(Math.max(covered, 0), from))
        shown.push(MARK_BYTES)
        this.hasMasked = true
      }
      covered = Math.max(covered, to)
    }

    const last = Math.min(end, data.length - 1)
    for (let at = 0; at < last; at += 1) {
      const pair = ((data[at] as number) << 8) | (data[at + 1] as number)
      if (beginnings[pair] === 0) continue
      const length = this.#patterns.lengthAt(data, at)
      if (length > 0) cover(at, at + length)
    }
    if (coverFrom < end) cover(coverFrom, end)

    this.#covered = covered >= end ? covered - end : -1
    if (shown.length === 0) return data.subarray(Math.min(Math.max(covered, 0), end), end)
    if (covered < end) shown.push(data.subarray(covered, end))
    return Buffer.concat(shown)
  }
}
