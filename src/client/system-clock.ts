import { setTimeout as pause } from 'node:timers/promises'
import type { Clock, Random } from '../core/clock.ts'

/** Real time; the client only needs it to wait before a retry. */
export const systemClock: Pick<Clock, 'sleep'> = {
  async sleep(ms, signal) {
    await pause(ms, undefined, signal ? { signal } : {}).catch(() => {})
  },
}

/** Jitter for retries; not used for secrets. */
export const systemRandom: Random = Math.random
