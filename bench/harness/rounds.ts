import { startChild } from './child.ts'
import type { BenchOptions } from './options.ts'
import { waitForQuiet, watchOtherProcesses } from './wait-for-quiet.ts'
import type { Measurements, BenchScenario, Variant } from './scenario.ts'
import type { BenchEnvironment } from './environment.ts'

/** The result of one variant in one round; the JSON file contains all of them. */
export interface RoundResult {
  readonly round: number
  readonly variant: string
  readonly at: string
  readonly measurements: Measurements | null
  readonly error: string | null
  /** Cores that other processes used during the measurement. */
  readonly othersCores: number
}

const DEADLINE_MS = 300_000

/**
 * Runs every variant once per round, in a different order each round. A slow phase of the machine then
 * affects all variants of a round, and no variant always runs after the same other one.
 */
export async function runRounds(
  scenario: BenchScenario,
  bench: BenchEnvironment,
  options: BenchOptions,
): Promise<RoundResult[]> {
  const rounds = options.quick
    ? options.rounds
    : Math.max(options.rounds, scenario.minRounds ?? options.rounds)
  const results: RoundResult[] = []
  for (let round = 1; round <= rounds; round++) {
    for (const variant of roundOrder(scenario.variants, round)) {
      const result = await runVariant(variant, round, bench, options)
      results.push(result)
      console.error(progress(scenario.name, rounds, result))
    }
  }
  return results
}

async function runVariant(
  variant: Variant,
  round: number,
  bench: BenchEnvironment,
  options: BenchOptions,
): Promise<RoundResult> {
  const settings = await variant.arrange(bench, options)
  await waitForQuiet(options.patienceMs)
  const identity = { round, variant: variant.name, at: new Date().toISOString() }
  const otherProcesses = watchOtherProcesses(bench.postgres?.pid)
  const child = startChild(variant.script, settings)
  const deadline = setTimeout(() => child.kill('SIGKILL'), variant.deadlineMs ?? DEADLINE_MS)
  // A failing variant must not abort the others; the table shows it as not measured.
  const outcome = await child.nextMessage('result').then(
    ({ measurements }) => ({ measurements: measurements as Measurements, error: null }),
    (error: unknown) => ({ measurements: null, error: String(error) }),
  )
  clearTimeout(deadline)
  // The child's processor time is counted as ours only after it has been reaped.
  await child.stop()
  const othersCores = otherProcesses.cores()
  await bench.clear()
  return { ...identity, ...outcome, othersCores }
}

/** Rotates the items every second round and reverses them in even rounds. */
export function roundOrder<T>(items: readonly T[], round: number): T[] {
  const start = items.length > 0 ? ((round - 1) >> 1) % items.length : 0
  const order = [...items.slice(start), ...items.slice(0, start)]
  return round % 2 === 0 ? order.toReversed() : order
}

function progress(scenario: string, rounds: number, result: RoundResult): string {
  const figures = Object.entries(result.measurements ?? {})
    .map(([name, value]) => `${name} ${Number(value.toPrecision(4))}`)
    .join(', ')
  const noise = `  (other processes ${result.othersCores.toFixed(1)} cores)`
  const outcome = result.error ?? figures
  return `${scenario} ${result.round}/${rounds}  ${result.variant}: ${outcome}${noise}`
}
