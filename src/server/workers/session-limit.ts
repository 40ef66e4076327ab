import type { Clock } from '../../core/clock.ts'
import { PunctualError } from '../../core/errors.ts'
import { createRateLimit } from '../identity/rate-limit.ts'
import type { SessionIndex } from '../sessions/session-index.ts'

/** New sessions per owner: rate per second, and burst. */
const OPENED_PER_SECOND = 200
const OPENED_AT_ONCE = 20_000
/** Registrations of sessions that cannot be taken over, per owner: each one is a write for nothing. */
const REFUSED_PER_SECOND = 200
const REFUSED_AT_ONCE = 2_000
/** An offer larger than this counts as several sessions, to bound the memory of one owner. */
const OFFER_BYTES = 16_384

/** Limits how many sessions one token may have on this node, and how fast it may open them. */
export interface SessionLimit {
  /**
   * Runs `open`, which adds this weight to the owner's sessions. Throws `too_many_sessions` beyond
   * the limit; sessions that are being opened count.
   */
  within<T>(owner: string, weight: number, open: () => Promise<T>): Promise<T>
  /** Throws `rate_limited` if the owner opens new sessions too fast. */
  countNew(owner: string): void
  /**
   * Runs an attempt to take a session over. Throws `rate_limited` without running it if too many of the owner's
   * recent attempts were refused.
   */
  takingOver<T>(
    owner: string,
    takeOver: () => Promise<T>,
    isRefused: (result: T) => boolean,
  ): Promise<T>
}

export function createSessionLimit(deps: {
  readonly sessionIndex: Pick<SessionIndex, 'weightOf'>
  readonly clock: Pick<Clock, 'mono'>
  readonly maxPerToken: number
  /** After this silence a session ends. */
  readonly ttlMs: number
}): SessionLimit {
  const { sessionIndex, clock, maxPerToken } = deps
  const opening = new Map<string, number>()
  const rate = createRateLimit(OPENED_PER_SECOND, OPENED_AT_ONCE)
  const refusals = createRateLimit(REFUSED_PER_SECOND, REFUSED_AT_ONCE)

  const reserve = (owner: string, weight: number) => {
    const sum = (opening.get(owner) ?? 0) + weight
    if (sum > 0) opening.set(owner, sum)
    else opening.delete(owner)
  }

  return {
    async within(owner, weight, open) {
      if (weight <= 0) return open()
      if (sessionIndex.weightOf(owner) + (opening.get(owner) ?? 0) + weight > maxPerToken) {
        const message = `this token has as many worker sessions on this node as it may: ${maxPerToken}`
        const retryAfterS = Math.ceil(deps.ttlMs / 1_000)
        throw new PunctualError('too_many_sessions', message, { retryAfterS })
      }
      reserve(owner, weight)
      try {
        return await open()
      } finally {
        reserve(owner, -weight)
      }
    },

    countNew(owner) {
      const retryAfterS = rate.take(owner, clock.mono())
      if (retryAfterS === 0) return
      throw new PunctualError('rate_limited', 'this token opens too many worker sessions', {
        retryAfterS,
      })
    },

    async takingOver(owner, takeOver, isRefused) {
      // Only refusals count: a whole fleet may move to this node at once, and again after an outage.
      const retryAfterS = refusals.waitS(owner, clock.mono())
      if (retryAfterS > 0) {
        const message = 'this token registers too many worker sessions that are not its own'
        throw new PunctualError('rate_limited', message, { retryAfterS })
      }
      const result = await takeOver()
      if (isRefused(result)) refusals.take(owner, clock.mono())
      return result
    },
  }
}

/** The weight of a session in the limit. */
export function weightOfOffer(offer: string): number {
  return Math.max(1, Math.ceil(offer.length / OFFER_BYTES))
}
