import { setTimeout as pause } from 'node:timers/promises'
import type { System } from '../systems/system.ts'

/** Runs before the first that counts: what is compiled by then is what runs from then on. */
export const WARM_UP_SAMPLES = 300
const SPACING_MS = { min: 5, max: 20 }
const SETTLE_MS = 1_000

export interface LoneRuns {
  /** Submits one run; milliseconds from the call to the first line of its handler. */
  sample(): Promise<number>
  /** Ends the system; how many of the runs have ended, according to the store. */
  close(): Promise<number>
}

/** One run at a time on a system with nothing to do. */
export async function startLoneRuns(system: System): Promise<LoneRuns> {
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
      // The last run may still be on its way to its end.
      await pause(SETTLE_MS)
      await system.close()
      return system.countEnded()
    },
  }
}

/** Between two runs. At random, so that no polling rhythm is met at its best or its worst moment. */
export function restAWhile(): Promise<void> {
  return pause(SPACING_MS.min + Math.random() * (SPACING_MS.max - SPACING_MS.min))
}
