import { setTimeout as pause } from 'node:timers/promises'
import type { System } from '../systems/system.ts'

/** Warm-up runs before the first sample, so that the JIT compiler has optimised the code path. */
export const WARM_UP_SAMPLES = 300
const SPACING_MS = { min: 5, max: 20 }
const SETTLE_MS = 1_000

export interface SequentialRuns {
  /** Submits one run; milliseconds from the call to the first line of its handler. */
  sample(): Promise<number>
  /** Closes the system; resolves with the number of ended runs in the store. */
  close(): Promise<number>
}

/** Submits one run at a time on an otherwise idle system. */
export async function startSequentialRuns(system: System): Promise<SequentialRuns> {
  let startedAt = 0
  let resolve = () => {}
  await system.work(() => {
    startedAt = performance.now()
    resolve()
  })
  return {
    async sample() {
      const started = new Promise<void>((done) => {
        resolve = done
      })
      const submittedAt = performance.now()
      await Promise.all([system.submitOne(), started])
      return startedAt - submittedAt
    },
    async close() {
      // The last run may not have ended yet.
      await pause(SETTLE_MS)
      await system.close()
      return system.countEnded()
    },
  }
}

/** Waits a random time between two runs, so that samples do not align with a system's polling interval. */
export function pauseBetweenSamples(): Promise<void> {
  return pause(SPACING_MS.min + Math.random() * (SPACING_MS.max - SPACING_MS.min))
}
