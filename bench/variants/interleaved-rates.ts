import { startSides, turnsOf } from '../harness/sides.ts'
import type { Measurements } from '../harness/scenario.ts'
import { measure, readSettings } from '../harness/variant-process.ts'
import type { measurePortion } from '../load/portioned-load.ts'
import type { RateSettings } from './rate-probe.ts'

export interface RatesByTurns {
  readonly sides: Readonly<Record<string, RateSettings>>
}

type Measured = Awaited<ReturnType<typeof measurePortion>>

const TURNS = 16

/**
 * The rates of several trees at once: all are up, and one after the other is offered a portion. The
 * machine's speed moves by a third within seconds; in this way it does so for all of them alike.
 */
measure(async () => {
  const { sides } = readSettings() as RatesByTurns
  const probes = (await startSides('rate-probe.ts', sides)).map((side) => ({
    ...side,
    portions: [] as Measured[],
  }))
  for (const { child } of probes) {
    child.tell('warm up')
    await child.next('warm')
  }
  for (const { side } of turnsOf(probes, TURNS)) {
    side.child.tell('offer')
    side.portions.push((await side.child.next('offered')) as unknown as Measured)
  }
  for (const { child } of probes) {
    child.tell('close')
    await child.next('closed')
    await child.stop()
  }
  return Object.assign({}, ...probes.map(({ name, portions }) => summary(name, portions)))
})

function summary(name: string, portions: readonly Measured[]): Measurements {
  const sum = (of: (portion: Measured) => number) =>
    portions.reduce((total, portion) => total + of(portion), 0)
  const runs = sum((portion) => portion.runs)
  const processors = Object.keys(portions[0]?.cpuPerRun ?? {})
  return {
    [`${name} runsPerSecond`]: runs / sum(({ seconds }) => seconds),
    ...Object.fromEntries(
      processors.map((processor) => [
        `${name} ${processor}`,
        sum((portion) => portion.runs * (portion.cpuPerRun[processor] ?? 0)) / runs,
      ]),
    ),
  }
}
