import { measure, readSettings, verify } from '../harness/variant.ts'
import { createClosedLoop, type LoopPlan } from '../load/closed-loop.ts'
import { meterCpu } from '../load/cpu-meter.ts'
import { openSystem } from '../systems/open.ts'
import type { SystemSettings } from '../systems/system.ts'

export interface ThroughputSettings extends SystemSettings, LoopPlan {
  /** Finished runs that the store came with. */
  readonly endedBefore?: number
}

const WARM_UP_RUNS = 30_000

/** From the first submission to the last durable end, after a warm-up nobody is charged for. */
measure(async () => {
  const settings = readSettings() as ThroughputSettings
  const system = await openSystem(settings)
  const loop = createClosedLoop()
  await system.work(loop.handled)
  const warmUp = Math.min(WARM_UP_RUNS, Math.ceil(settings.runs / 5))
  await loop.offer({ ...settings, runs: warmUp }, system.submitMany)
  await system.settled()

  const cpu = await meterCpu(system, settings.postgresPid)
  const startedAt = performance.now()
  await loop.offer(settings, system.submitMany)
  await system.settled()
  const seconds = (performance.now() - startedAt) / 1000
  const cpuPerRun = await cpu.perRun(settings.runs)

  await system.close()
  const { endedBefore = 0 } = settings
  verify('runs ended', endedBefore + warmUp + settings.runs, await system.countEnded())
  return { runsPerSecond: settings.runs / seconds, seconds, ...cpuPerRun }
})
