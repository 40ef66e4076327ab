import { quantile } from '../harness/statistics.ts'
import { measure, readSettings, verify } from '../harness/variant-process.ts'
import { restAWhile, startLoneRuns, WARM_UP_SAMPLES } from '../load/sequential-runs.ts'
import { openSystem } from '../systems/open.ts'
import type { SystemSettings } from '../systems/system.ts'

export interface LatencySettings extends SystemSettings {
  readonly samples: number
}

/** From the call that submits to the first line of the handler, on a system with nothing to do. */
measure(async () => {
  const settings = readSettings() as LatencySettings
  const runs = await startLoneRuns(await openSystem(settings))
  const waits: number[] = []
  for (let i = -WARM_UP_SAMPLES; i < settings.samples; i++) {
    await restAWhile()
    const waited = await runs.sample()
    if (i >= 0) waits.push(waited)
  }
  verify('runs ended', WARM_UP_SAMPLES + settings.samples, await runs.close())
  return { p50: quantile(waits, 0.5), p99: quantile(waits, 0.99), max: Math.max(...waits) }
})
