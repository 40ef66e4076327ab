import { formatDuration, parseDuration } from '../text/duration.ts'
import { PunctualError } from '../errors.ts'
import { LIMITS } from '../limits.ts'

/**
 * At most `limit` starts in every `perMs`, with bursts of up to `burst`: a leaky bucket that holds `burst` starts.
 */
export interface Rate {
  readonly limit: number
  readonly perMs: number
  readonly burst: number
}

/**
 * The fill level of a bucket. One start adds `perMs`, every millisecond drains `limit`, and the capacity is `burst`
 * starts: all are whole numbers, so nothing is lost to rounding.
 */
export interface Bucket {
  readonly level: number
  readonly at: number
}

export const EMPTY_BUCKET: Bucket = { level: 0, at: 0 }

/** A clock that went back by more than this was set; a smaller difference comes from two readers. */
const JITTER_MS = 1_000

/** The bucket at the time `now`. */
export function drainBucket({ limit }: Rate, { level, at }: Bucket, now: number): Bucket {
  if (now < at && at - now <= JITTER_MS) return { level, at }
  return { level: Math.max(0, level - Math.max(0, now - at) * limit), at: now }
}

/** How many runs may start now. */
export function availableStarts(rate: Rate, bucket: Bucket, now: number): number {
  const { level } = drainBucket(rate, bucket, now)
  return Math.max(0, Math.floor((rate.burst * rate.perMs - level) / rate.perMs))
}

/** The bucket after `starts` starts. */
export function fillBucket(rate: Rate, bucket: Bucket, now: number, starts: number): Bucket {
  const { level, at } = drainBucket(rate, bucket, now)
  return { level: level + starts * rate.perMs, at }
}

/** When the next run may start; `now` if one may start already. */
export function nextStartAt(rate: Rate, bucket: Bucket, now: number): number {
  const { level, at } = drainBucket(rate, bucket, now)
  const over = level + rate.perMs - rate.burst * rate.perMs
  return over <= 0 ? now : at + Math.ceil(over / rate.limit)
}

/** A rate as users write it. */
export interface RateInput {
  readonly limit: number
  readonly per: string
  readonly burst?: number | undefined
}

export function readRate({ limit, per, burst }: RateInput, field = 'rate'): Rate {
  const perMs = parseDuration(per, `${field}.per`)
  if (perMs < LIMITS.ratePerLeastMs || perMs > LIMITS.ratePerMostMs) {
    const bounds = [LIMITS.ratePerLeastMs, LIMITS.ratePerMostMs].map(formatDuration).join(' to ')
    const at = `${field}.per`
    throw new PunctualError('invalid_field', `${at} must be ${bounds}`, { field: at })
  }
  return { limit, perMs, burst: burst ?? defaultBurst(limit, perMs) }
}

/**
 * The starts of one second, at least one: slow rates are spread evenly, and fast rates are fully used although the
 * server does not check every millisecond.
 */
function defaultBurst(limit: number, perMs: number): number {
  return Math.max(1, Math.ceil((limit * 1_000) / perMs))
}

const RATE = /^(\d{1,7})\/(.+)$/

/** Reads `100/1m` and `5/s`. */
export function parseRate(text: string, field = 'rate'): { limit: number; per: string } {
  const [, limit, per] = RATE.exec(text) ?? []
  if (limit === undefined || per === undefined || Number(limit) === 0) {
    const message = `${field} is not a rate: "${text.slice(0, 40)}" (try 100/1m or 5/s)`
    throw new PunctualError('invalid_field', message, { field })
  }
  return { limit: Number(limit), per: /^\d/.test(per) ? per : `1${per}` }
}

export function formatRate({ limit, perMs }: Pick<Rate, 'limit' | 'perMs'>): string {
  return `${limit} every ${formatDuration(perMs)}`
}
