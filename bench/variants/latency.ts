import { quantile } from '../harness/statistics.ts'
import { measureAndExit, readVariantSettings, verify } from '../harness/variant-process.ts'
import {
  pauseBetweenSamples,
  startSequentialRuns,
  WARM_UP_SAMPLES,
} from '../load/sequential-runs.ts'
import { openSystem } from '../systems/open.ts'
import type { SystemSettings } from '../systems/system.ts'

export interface LatencySettings extends SystemSettings {
  readonly samples: number
}

/** Measures the time from the submitting call to the first line of the handler on an idle system. */
measureAndExit(async () => {
  const settings = readVariantSettings() as LatencySettings
  const runs = await startSequentialRuns(await openSystem(settings))
  const waits: number[] = []
  for (let i = -WARM_UP_SAMPLES; i < settings.samples; i++) {
    await pauseBetweenSamples()
    const waited = await runs.sample()
    if (i >= 0) waits.push(waited)
  }
  verify('runs ended', WARM_UP_SAMPLES + settings.samples, await runs.close())
  return { p50: quantile(waits, 0.5), p99: quantile(waits, 0.99), max: Math.max(...waits) }
})
