import type { Clock } from '../../core/clock.ts'
import { type ClockNotice, noticeOf, type StoreClock } from '../cluster/store-clock.ts'
import type { StoreFailure, StoreHealth } from './store-health.ts'

export interface Readiness {
  readonly ok: boolean
  readonly reason?: string
  /** What is held because the wall clock is in doubt. */
  readonly clock?: ClockNotice
}

/**
 * Shown without authentication, so without paths: those are in the log and in `GET /v1/storage`.
 */
const REASONS: Readonly<Record<StoreFailure['kind'], string>> = {
  full: 'the disk is full: nothing can be written',
  damaged: 'the database is damaged: restore a backup',
  replaced: 'the files of the database were deleted or replaced while in use',
  unavailable: 'the database does not answer',
}

/** How long the answer waits for the test write. */
const PATIENCE_MS = 3_000
/** The node is not ready anyway; the write only adds the reason. */
const SHORT_PATIENCE_MS = 500

/** Ready if a write to the store succeeds and this node may promise work. */
export function createReady(deps: {
  readonly health: Pick<StoreHealth, 'check' | 'failure'>
  mayPromise(): boolean
  /** Why this node stays out of the cluster, if it does so on purpose. */
  whyAbsent(): string | undefined
  readonly storeClock: StoreClock
  readonly clock: Pick<Clock, 'sleep'>
}): () => Promise<Readiness> {
  const { health, clock } = deps
  /** A write may hang together with the disk; the request is answered nevertheless. */
  const checkInTime = async (): Promise<StoreFailure | null> => {
    const answered = new AbortController()
    const limitMs = deps.mayPromise() ? PATIENCE_MS : SHORT_PATIENCE_MS
    const late = clock.sleep(limitMs, answered.signal).then((): StoreFailure => {
      return health.failure ?? { kind: 'unavailable', reason: 'a write is taking too long' }
    })
    try {
      return await Promise.race([health.check(), late])
    } finally {
      answered.abort()
    }
  }
  return async () => {
    const failure = await checkInTime()
    if (failure && failure.kind !== 'unavailable')
      return { ok: false, reason: REASONS[failure.kind] }
    if (!deps.mayPromise()) {
      return { ok: false, reason: deps.whyAbsent() ?? 'the node row could not be renewed' }
    }
    if (failure) return { ok: false, reason: `${REASONS.unavailable}: ${failure.reason}` }
    const clock = noticeOf(deps.storeClock)
    return { ok: true, ...(clock && { clock }) }
  }
}
