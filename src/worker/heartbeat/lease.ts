import type { Clock } from '../../core/clock.ts'

/** Allowed drift between this clock and the server's, and the time it takes to stop a handler. */
const DRIFT = 0.95
const STOP_MS = 1_000

/**
 * How long attempts may run after an acknowledged heartbeat was *sent*. Whole milliseconds: timers of the
 * heartbeat thread refuse fractions.
 */
export function leaseSpanMs(leaseTtlMs: number): number {
  return Math.floor(leaseTtlMs * DRIFT) - STOP_MS
}

/**
 * The session's right to run anything, by the monotonic clock alone. The lease counts from before a
 * message was sent, because the server cannot have started its own count any earlier.
 */
export interface SessionLease {
  /** The server answered a registration or heartbeat sent at `sentMono`. */
  renew(sentMono: number, leaseTtlMs: number): void
  /**
   * False once the lease has expired. Expiry is noticed here at the latest: a process that was
   * frozen may read its messages before its timers fire.
   */
  isKept(): boolean
  /** Notices expiry in time, until the signal aborts. */
  guard(signal: AbortSignal): Promise<void>
}

/**
 * `onExpire` is called once per expiry, before `isKept` returns false; `onRenew` with every renewal
 * and the remaining time. `otherThreadLeftMs` returns the time left from renewals by the heartbeat
 * thread.
 */
export function createSessionLease(
  clock: Clock,
  onExpire: () => void,
  onRenew: (leftMs: number) => void = () => {},
  otherThreadLeftMs: () => number = () => -Infinity,
): SessionLease {
  let deadlineMono = -Infinity
  let isHeld = false
  let wake: () => void = () => {}

  const leftMs = () => {
    const ownMs = deadlineMono - clock.mono()
    // Called with every message: renewals by the heartbeat thread matter only when this thread's
    // own have expired.
    return ownMs > 0 ? ownMs : Math.max(ownMs, otherThreadLeftMs())
  }
  const isKept = () => {
    if (isHeld && leftMs() <= 0) {
      isHeld = false
      onExpire()
    }
    return isHeld
  }
  const waitForRenewal = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      if (signal.aborted || isHeld) return resolve()
      const end = () => {
        signal.removeEventListener('abort', end)
        resolve()
      }
      wake = end
      signal.addEventListener('abort', end)
    })

  return {
    renew(sentMono, leaseTtlMs) {
      deadlineMono = Math.max(deadlineMono, sentMono + leaseSpanMs(leaseTtlMs))
      isHeld = true
      onRenew(Math.max(leftMs(), otherThreadLeftMs()))
      wake()
    },

    isKept,

    async guard(signal) {
      while (!signal.aborted) {
        await waitForRenewal(signal)
        // Renewals extend the deadline during this sleep, so its end may mean nothing.
        while (!signal.aborted && isKept()) await clock.sleep(leftMs(), signal)
      }
    },
  }
}
