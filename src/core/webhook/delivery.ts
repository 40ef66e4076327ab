import { retryDelayMs } from '../run/retry.ts'

export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** How a state is stored, in both databases. Codes are forever. */
export const DELIVERY_CODE = {
  pending: 0,
  delivered: 1,
  failed: 2,
} as const satisfies Record<DeliveryState, number>

/** From the first try on, a delivery is tried for this long. */
export const DELIVERY_TRIED_MS = 24 * 3_600_000
/** An endpoint that has said nothing for this long has not taken the message. */
export const DELIVERY_TIMEOUT_MS = 10_000
/** The try that fails first is followed by another soon; an endpoint that stays away is left alone. */
const WAITS = {
  max: Number.POSITIVE_INFINITY,
  backoff: 'exponential',
  delayMs: 5_000,
  maxDelayMs: 4 * 3_600_000,
  jitter: 0.2,
  on: [],
} as const

/** A delivery that was just tried. */
export interface TriedDelivery {
  readonly id: number
  /** How often, this time included. */
  readonly attempts: number
  /** When the first try was due. */
  readonly since: number
}

export type DeliveryVerdict =
  | { readonly to: 'delivered' }
  | { readonly to: 'retry'; readonly waitMs: number }
  | { readonly to: 'failed' }
  /** The endpoint wants no more of this, ever. */
  | { readonly to: 'gone' }

const GONE = 410

/** What an answer means, or with null that there was none. Only 2xx is a thank you. */
export function judgeDelivery(
  { id, attempts, since }: TriedDelivery,
  status: number | null,
  now: number,
): DeliveryVerdict {
  if (status !== null && status >= 200 && status < 300) return { to: 'delivered' }
  if (status === GONE) return { to: 'gone' }
  const waitMs = retryDelayMs(WAITS, attempts, id)
  return now + waitMs > since + DELIVERY_TRIED_MS ? { to: 'failed' } : { to: 'retry', waitMs }
}
