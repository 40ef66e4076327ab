import type { Clock } from '../../core/clock.ts'

/** Allowed drift between our clock and the server's, and the time it takes to stop a handler. */
const DRIFT = 0.95
const STOP_MS = 1_000

/** How long after an acknowledged sign of life was *sent* attempts may still run. */
export function leaseSpanMs(leaseTtlMs: number): number {
  return leaseTtlMs * DRIFT - STOP_MS
}

/**
 * The session's right to run anything, by the monotonic clock alone. It counts from the moment
 * before a message was sent, because the server cannot have started its own count any earlier.
 */
export interface Lease {
  /** An answer arrived to a registration or heartbeat sent at `sentMono`. */
  renew(sentMono: number, leaseTtlMs: number): void
  /**
   * False once the lease has run out, which is noticed here at the latest: a process that was
   * frozen may get to its messages before it gets to its timers.
   */
  isKept(): boolean
  /** Notices in time, until the signal aborts. */
  guard(signal: AbortSignal): Promise<void>
}

/**
 * `onLapse` is called once for every time the lease runs out, before anyone is told of it; `onRenew`
 * with every renewal and the time that is left. `keptElsewhereMs` says what somebody else's beats
 * have added to it.
 */
export function createLease(
  clock: Clock,
  onLapse: () => void,
  onRenew: (leftMs: number) => void = () => {},
  keptElsewhereMs: () => number = () => -Infinity,
): Lease {
  let deadlineMono = -Infinity
  let isHeld = false
  let wake: () => void = () => {}

  const leftMs = () => {
    const ownMs = deadlineMono - clock.mono()
    // Asked with every message: what others have added matters only when our own part is used up.
    return ownMs > 0 ? ownMs : Math.max(ownMs, keptElsewhereMs())
  }
  const isKept = () => {
    if (isHeld && leftMs() <= 0) {
      isHeld = false
      onLapse()
    }
    return isHeld
  }
  const renewed = (signal: AbortSignal) =>
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
      onRenew(Math.max(leftMs(), keptElsewhereMs()))
      wake()
    },

    isKept,

    async guard(signal) {
      while (!signal.aborted) {
        await renewed(signal)
        // Renewals move the deadline on while this sleeps, so the end of a sleep may mean nothing.
        while (!signal.aborted && isKept()) await clock.sleep(leftMs(), signal)
      }
    },
  }
}
