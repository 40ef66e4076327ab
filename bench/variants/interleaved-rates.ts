import { startSides, alternate } from '../harness/sides.ts'
import type { Measurements } from '../harness/scenario.ts'
import { measureAndExit, readVariantSettings } from '../harness/variant-process.ts'
import type { measurePortion } from '../load/portioned-load.ts'
import type { RateSettings } from './rate-probe.ts'

export interface InterleavedRatesSettings {
  readonly sides: Readonly<Record<string, RateSettings>>
}

type MeasuredPortion = Awaited<ReturnType<typeof measurePortion>>

const TURNS = 16

/**
 * Measures the rates of several trees that run at the same time and are offered portions in alternation.
 * The machine's speed changes by a third within seconds; alternation makes it change for all of them alike.
 */
measureAndExit(async () => {
  const { sides } = readVariantSettings() as InterleavedRatesSettings
  const probes = (await startSides('rate-probe.ts', sides)).map((side) => ({
    ...side,
    portions: [] as MeasuredPortion[],
  }))
  for (const { child } of probes) {
    child.sendCommand('warm up')
    await child.nextMessage('warm')
  }
  for (const { side } of alternate(probes, TURNS)) {
    side.child.sendCommand('offer')
    side.portions.push((await side.child.nextMessage('offered')) as unknown as MeasuredPortion)
  }
  for (const { child } of probes) {
    child.sendCommand('close')
    await child.nextMessage('closed')
    await child.stop()
  }
  return Object.assign({}, ...probes.map(({ name, portions }) => summarize(name, portions)))
})

function summarize(name: string, portions: readonly MeasuredPortion[]): Measurements {
  const sum = (of: (portion: MeasuredPortion) => number) =>
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
