import type { Clock, Random } from '../../core/clock.ts'

/** The longest wait a timer of the platform can hold; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Real time, for workers that are not being tested. */
export const systemClock: Clock = {
  now: () => Date.now(),
  mono: () => performance.now(),
  async sleep(ms, signal) {
    const untilMono = performance.now() + ms
    for (let left = ms; left > LONGEST_TIMER_MS; left = untilMono - performance.now()) {
      await pause(LONGEST_TIMER_MS, signal)
      if (signal?.aborted) return
    }
    await pause(Math.max(0, untilMono - performance.now()), signal)
  },
}

export const systemRandom: Random = () => Math.random()

/** Nanoseconds of a clock that all processes of this machine share and nobody can set. */
export function machineMonoNs(): bigint {
  return process.hrtime.bigint()
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })
}
