import { setTimeout as pause } from 'node:timers/promises'
import type { Clock, Random } from '../core/clock.ts'

/** Real time, as far as a client needs it: only to wait before it tries again. */
export const systemClock: Pick<Clock, 'sleep'> = {
  async sleep(ms, signal) {
    await pause(ms, undefined, signal ? { signal } : {}).catch(() => {})
  },
}

/** Spreads retries; nothing secret depends on it. */
export const systemRandom: Random = Math.random
