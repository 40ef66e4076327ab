import { startChild } from '../harness/child.ts'
import { quantile } from '../harness/statistics.ts'
import { measure, readSettings, verify } from '../harness/variant.ts'
import { restAWhile, WARM_UP_SAMPLES } from '../load/lone-run.ts'
import type { LatencySettings } from './latency.ts'

export interface ByTurnsSettings {
  /** By name: the tree and what is opened from it. */
  readonly sides: Readonly<Record<string, LatencySettings & { readonly tree: string }>>
}

/**
 * The latency of several trees at once: all are up, and one after the other has a run. What the disk
 * and the neighbours do from minute to minute they do to all of them alike.
 */
measure(async () => {
  const { sides } = readSettings() as ByTurnsSettings
  const probes = Object.entries(sides).map(([name, settings]) => ({
    ...{ name, samples: settings.samples, waits: [] as number[] },
    child: startChild('latency-probe.ts', settings),
  }))
  const samples = Math.min(...probes.map((probe) => probe.samples))
  for (const { child } of probes) await child.next('ready')
  for (let i = -WARM_UP_SAMPLES; i < samples; i++) {
    // Each is as often the first of a turn as the other.
    for (const { child, waits } of i % 2 === 0 ? probes : probes.toReversed()) {
      await restAWhile()
      child.tell('sample')
      const { waitMs } = await child.next('sampled')
      if (i >= 0) waits.push(waitMs as number)
    }
  }
  for (const { child, name } of probes) {
    child.tell('close')
    const { ended } = await child.next('closed')
    verify(`runs ended, ${name}`, WARM_UP_SAMPLES + samples, ended as number)
    await child.stop()
  }
  return Object.fromEntries(
    probes.flatMap(({ name, waits }) => [
      [`${name} p50`, quantile(waits, 0.5)],
      [`${name} p99`, quantile(waits, 0.99)],
    ]),
  )
})
