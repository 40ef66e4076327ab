import { setTimeout as pause } from 'node:timers/promises'

export interface WaitOptions {
  /** Completes the failure message: "waited 60 s for <what>". */
  what: string
  /** Generous by default: a slow machine should pass, a stuck program should not hang the run. */
  deadlineMs?: number
  intervalMs?: number
}

/**
 * Polls until the condition gives a truthy value and returns that value. A condition that throws
 * counts as "not yet"; its last error becomes the cause of the failure, so a wait for something
 * that is broken says how it is broken.
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { what, deadlineMs = 60_000, intervalMs = 10 }: WaitOptions,
): Promise<NonNullable<T>> {
  const startedAt = performance.now()
  let last: { value: unknown } | { error: unknown } = { value: undefined }
  for (;;) {
    try {
      const value = await within(condition, deadlineMs - (performance.now() - startedAt))
      if (value) return value
      last = { value }
    } catch (error) {
      last = { error }
    }
    if (performance.now() - startedAt >= deadlineMs) throw timedOut(what, deadlineMs, last)
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
  deadlineMs: number,
  last: { value: unknown } | { error: unknown },
): Error {
  const waited = `waited ${deadlineMs / 1000} s for ${what}`
  if ('error' in last) {
    const reason = last.error instanceof Error ? last.error.message : String(last.error)
    return new Error(`${waited}; the last try threw: ${reason}`, { cause: last.error })
  }
  return new Error(`${waited}; the last try gave ${JSON.stringify(last.value)}`)
}
