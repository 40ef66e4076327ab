import { setTimeout as pause } from 'node:timers/promises'

/**
 * Waits for about `ms`: half of it at least, so that those who failed together do not all come back
 * together. Ends early with the signal; never rejects.
 */
export async function waitAbout(ms: number, signal?: AbortSignal): Promise<void> {
  const delayMs = ms * (0.5 + Math.random() / 2)
  await pause(delayMs, undefined, signal ? { signal } : {}).catch(() => {})
}

/** Milliseconds of a clock that nobody sets. */
export function mono(): number {
  return performance.now()
}
