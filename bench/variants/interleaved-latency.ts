import { startSides, alternate } from '../harness/sides.ts'
import { quantile } from '../harness/statistics.ts'
import { measureAndExit, readVariantSettings, verify } from '../harness/variant-process.ts'
import { pauseBetweenSamples, WARM_UP_SAMPLES } from '../load/sequential-runs.ts'
import type { TreeSettings } from '../systems/open-tree.ts'
import type { LatencySettings } from './latency.ts'

export interface InterleavedLatencySettings {
  readonly sides: Readonly<Record<string, LatencySettings & TreeSettings>>
}

/**
 * Measures the latency of several trees that run at the same time, one run on each in alternation, so that
 * changes in the speed of disk and machine affect all trees alike.
 */
measureAndExit(async () => {
  const { sides } = readVariantSettings() as InterleavedLatencySettings
  const samples = Math.min(...Object.values(sides).map((side) => side.samples))
  const probes = (await startSides('latency-probe.ts', sides)).map((side) => ({
    ...side,
    waits: [] as number[],
  }))
  const count = WARM_UP_SAMPLES + samples
  for (const { side, turn } of alternate(probes, count)) {
    await pauseBetweenSamples()
    side.child.sendCommand('sample')
    const { waitMs } = await side.child.nextMessage('sampled')
    if (turn >= WARM_UP_SAMPLES) side.waits.push(waitMs as number)
  }
  for (const { child, name } of probes) {
    child.sendCommand('close')
    const { ended } = await child.nextMessage('closed')
    verify(`runs ended, ${name}`, count, ended as number)
    await child.stop()
  }
  return Object.fromEntries(
    probes.flatMap(({ name, waits }) => [
      [`${name} p50`, quantile(waits, 0.5)],
      [`${name} p99`, quantile(waits, 0.99)],
    ]),
  )
})
