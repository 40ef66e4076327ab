import { parseDuration, writeDuration } from '../text/duration.ts'
import { PunctualError } from '../errors.ts'
import type { RetryPolicy } from '../run/retry.ts'

/** A retry policy as JSON. */
export interface WireRetry {
  readonly max?: RetryPolicy['max'] | undefined
  readonly backoff?: RetryPolicy['backoff'] | undefined
  readonly delay?: string | undefined
  readonly max_delay?: string | undefined
  readonly jitter?: RetryPolicy['jitter'] | undefined
  readonly on?: RetryPolicy['on'] | undefined
}

export function readRetry(wire: WireRetry, at: string): Partial<RetryPolicy> {
  const retry = readRetryFields(wire, at)
  const { delayMs, maxDelayMs } = retry
  if (delayMs === undefined || maxDelayMs === undefined || delayMs <= maxDelayMs) return retry
  const message = `${at}delay must not be longer than ${at}max_delay`
  throw new PunctualError('invalid_field', message, { field: `${at}delay` })
}

/** Absent fields stay absent: the stored policy contains only what its author set. */
function readRetryFields(wire: WireRetry, at: string): Partial<RetryPolicy> {
  return {
    ...(wire.max === undefined ? {} : { max: wire.max }),
    ...(wire.backoff === undefined ? {} : { backoff: wire.backoff }),
    ...(wire.delay === undefined ? {} : { delayMs: parseDuration(wire.delay, `${at}delay`) }),
    ...(wire.max_delay === undefined
      ? {}
      : { maxDelayMs: parseDuration(wire.max_delay, `${at}max_delay`) }),
    ...(wire.jitter === undefined ? {} : { jitter: wire.jitter }),
    ...(wire.on === undefined ? {} : { on: wire.on }),
  }
}

export function writeRetry(retry: Partial<RetryPolicy>): WireRetry {
  return {
    max: retry.max,
    backoff: retry.backoff,
    delay: writeDuration(retry.delayMs),
    max_delay: writeDuration(retry.maxDelayMs),
    jitter: retry.jitter,
    on: retry.on,
  }
}
