import { startSides, turnsOf } from '../harness/sides.ts'
import { quantile } from '../harness/statistics.ts'
import { measure, readSettings, verify } from '../harness/variant-process.ts'
import { restAWhile, WARM_UP_SAMPLES } from '../load/sequential-runs.ts'
import type { TreeSettings } from '../systems/open-tree.ts'
import type { LatencySettings } from './latency.ts'

export interface LatencyByTurns {
  readonly sides: Readonly<Record<string, LatencySettings & TreeSettings>>
}

/**
 * The latency of several trees at once: all are up, and one after the other has a run. What the disk
 * and the neighbours do from minute to minute they do to all of them alike.
 */
measure(async () => {
  const { sides } = readSettings() as LatencyByTurns
  const samples = Math.min(...Object.values(sides).map((side) => side.samples))
  const probes = (await startSides('latency-probe.ts', sides)).map((side) => ({
    ...side,
    waits: [] as number[],
  }))
  const count = WARM_UP_SAMPLES + samples
  for (const { side, turn } of turnsOf(probes, count)) {
    await restAWhile()
    side.child.tell('sample')
    const { waitMs } = await side.child.next('sampled')
    if (turn >= WARM_UP_SAMPLES) side.waits.push(waitMs as number)
  }
  for (const { child, name } of probes) {
    child.tell('close')
    const { ended } = await child.next('closed')
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
