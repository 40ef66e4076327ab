import { retryDelayMs } from '../run/retry.ts'

export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** The stored codes of states in both databases. Codes never change. */
export const DELIVERY_CODE = {
  pending: 0,
  delivered: 1,
  failed: 2,
} as const satisfies Record<DeliveryState, number>

/** Deliveries are retried for this long after the first attempt. */
export const DELIVERY_TRIED_MS = 24 * 3_600_000
/** An endpoint that does not answer within this time has failed. */
export const DELIVERY_TIMEOUT_MS = 10_000
/** The first retries follow quickly; an endpoint that stays unavailable is tried less often. */
const WAITS = {
  max: Number.POSITIVE_INFINITY,
  backoff: 'exponential',
  delayMs: 5_000,
  maxDelayMs: 4 * 3_600_000,
  jitter: 0.2,
  on: [],
} as const

/** A delivery after an attempt. */
export interface TriedDelivery {
  readonly id: number
  /** Number of attempts including this one. */
  readonly attempts: number
  /** When the first attempt was due. */
  readonly since: number
}

export type DeliveryVerdict =
  | { readonly to: 'delivered' }
  | { readonly to: 'retry'; readonly waitMs: number }
  | { readonly to: 'failed' }
  /** The endpoint answered that it is gone for good. */
  | { readonly to: 'gone' }

const GONE = 410

/** Interprets the status of an answer, or null for no answer. Only 2xx is a success. */
export function evaluateDelivery(
  { id, attempts, since }: TriedDelivery,
  status: number | null,
  now: number,
): DeliveryVerdict {
  if (status !== null && status >= 200 && status < 300) return { to: 'delivered' }
  if (status === GONE) return { to: 'gone' }
  const waitMs = retryDelayMs(WAITS, attempts, id)
  return now + waitMs > since + DELIVERY_TRIED_MS ? { to: 'failed' } : { to: 'retry', waitMs }
}
