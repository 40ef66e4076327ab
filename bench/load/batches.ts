import { verify } from '../harness/variant-process.ts'
import type { System, SystemSettings } from '../systems/system.ts'
import { createClosedLoop, type LoopPlan } from './closed-loop.ts'
import type { PortionedLoad } from './portioned-load.ts'

export interface BatchSettings extends SystemSettings, LoopPlan {
  /** Ended runs that the store already contains. */
  readonly endedBefore?: number
}

const WARM_UP_RUNS = 30_000

/** Submits runs in batches as fast as the system accepts them. */
export async function startBatches(
  system: System,
  settings: BatchSettings,
): Promise<PortionedLoad> {
  const loop = createClosedLoop()
  await system.work(loop.handled)
  let offered = settings.endedBefore ?? 0

  const offer = async (runs: number) => {
    const startedAt = performance.now()
    await loop.offer({ ...settings, runs }, system.submitMany)
    await system.settled()
    offered += runs
    return { runs, seconds: (performance.now() - startedAt) / 1000 }
  }

  return {
    async warmUp() {
      await offer(Math.min(WARM_UP_RUNS, Math.ceil(settings.runs / 5)))
    },
    offer: (share) => offer(Math.ceil(settings.runs * share)),
    async close() {
      await system.close()
      verify('runs ended', offered, await system.countEnded())
    },
  }
}
