import { setTimeout as pause } from 'node:timers/promises'
import { slowdownFactor } from './slowdown-factor.ts'

export interface WaitOptions {
  /** Completes the failure message: "waited 60 s for <what>". */
  what: string
  /** On an idle machine; on a busy one it is multiplied by the slowdown factor. */
  deadlineMs?: number
  intervalMs?: number
}

/**
 * Polls until the condition returns a truthy value and returns it. A condition that throws counts as "not yet";
 * its last error becomes the cause of the failure, so the message shows what is broken.
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { what, deadlineMs = 60_000, intervalMs = 10 }: WaitOptions,
): Promise<NonNullable<T>> {
  const startedAt = performance.now()
  const elapsedMs = () => performance.now() - startedAt
  let last: { value: unknown } | { error: unknown } = { value: undefined }
  for (;;) {
    const allowedMs = deadlineMs * slowdownFactor()
    try {
      const value = await within(condition, allowedMs - elapsedMs())
      if (value) return value
      last = { value }
    } catch (error) {
      last = { error }
    }
    if (elapsedMs() >= allowedMs) throw timedOut(what, elapsedMs(), last)
    await pause(intervalMs)
  }
}

/** Bounds a single evaluation: a condition that never settles must not outlive the deadline. */
async function within<T>(condition: () => T | Promise<T>, remainingMs: number): Promise<T> {
  const done = new AbortController()
  const late = pause(Math.max(remainingMs, 0), undefined, { signal: done.signal }).then(() => {
    throw new Error('the condition itself did not settle in time')
  })
  late.catch(() => {})
  try {
    return await Promise.race([condition(), late])
  } finally {
    done.abort()
  }
}

function timedOut(
  what: string,
  waitedMs: number,
  last: { value: unknown } | { error: unknown },
): Error {
  const waited = `waited ${(waitedMs / 1_000).toFixed(1)} s for ${what}`
  if ('error' in last) {
    const reason = last.error instanceof Error ? last.error.message : String(last.error)
    return new Error(`${waited}; the last try threw: ${reason}`, { cause: last.error })
  }
  return new Error(`${waited}; the last try gave ${JSON.stringify(last.value)}`)
}
