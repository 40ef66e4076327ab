import { uptime } from 'node:os'
import type { Clock, Random } from '../../core/clock.ts'

/** The longest delay of a platform timer; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Real time, for workers outside of tests. */
export const systemClock: Clock = {
  now: () => Date.now(),
  mono: () => performance.now(),
  // On Linux this reads /proc/uptime, which includes time in suspend.
  boot: () => uptime() * 1_000,
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

/** Nanoseconds of a clock that all processes of this machine share and no process can set. */
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
