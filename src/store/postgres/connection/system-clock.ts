import { setTimeout as pause } from 'node:timers/promises'

/**
 * Waits for about `ms`, at least half of it, so that callers that failed together do not all retry
 * together. Ends early with the signal; never rejects.
 */
export async function waitAbout(ms: number, signal?: AbortSignal): Promise<void> {
  const delayMs = ms * (0.5 + Math.random() / 2)
  await pause(delayMs, undefined, signal ? { signal } : {}).catch(() => {})
}

/** Milliseconds of a monotonic clock, which cannot be set. */
export function mono(): number {
  return performance.now()
}
