import type { Patterns } from './patterns.ts'

/** Stands where a secret stood. No longer than the shortest secret, so no limit is exceeded by it. */
export const MARK = '***'
const MARK_BYTES = Buffer.from(MARK)
const NOTHING = Buffer.alloc(0)

/**
 * Takes secrets out of a stream of bytes, wherever the stream is cut. It holds back no more than the
 * bytes at its end that could be the beginning of a secret. Secrets that overlap or touch become one
 * mark: all of their bytes are covered.
 */
export class ByteMask {
  readonly #patterns: Patterns
  #held: Buffer = NOTHING
  /** Bytes at the start of what is held that are covered already; -1 if none of it touches a mark. */
  #covered = -1
  /** Whether anything was taken out. */
  hasMasked = false

  constructor(patterns: Patterns) {
    this.#patterns = patterns
  }

  /** What may be passed on now. */
  push(bytes: Buffer): Buffer {
    const data = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes])
    const end = this.#firstHope(data, () => true)
    const shown = this.#mask(data, end, end)
    // A copy: what is held must not keep all of what was read alive.
    this.#held = end === data.length ? NOTHING : Buffer.from(data.subarray(end))
    return shown
  }

  /** The rest. A secret that was cut off is covered too, if half of it is there. */
  end(): Buffer {
    const data = this.#held
    this.#held = NOTHING
    const isTelling = (here: number, whole: number) => here > MARK.length && here * 2 >= whole
    return this.#mask(data, data.length, this.#firstHope(data, isTelling))
  }

  /** Where a secret may have begun that has not ended. */
  #firstHope(data: Buffer, counts: (here: number, whole: number) => boolean): number {
    const from = Math.max(0, data.length - this.#patterns.longest + 1)
    for (let at = from; at < data.length; at += 1) {
      const whole = this.#patterns.hopeAt(data, at)
      if (whole > 0 && counts(data.length - at, whole)) return at
    }
    return data.length
  }

  /** Passes on what comes before `end`; from `cutOff` on, all of it is covered. */
  #mask(data: Buffer, end: number, cutOff: number): Buffer {
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
    if (cutOff < end) cover(cutOff, end)

    this.#covered = covered >= end ? covered - end : -1
    if (shown.length === 0) return data.subarray(Math.min(Math.max(covered, 0), end), end)
    if (covered < end) shown.push(data.subarray(covered, end))
    return Buffer.concat(shown)
  }
}
