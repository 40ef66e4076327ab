import { startChild } from './child.ts'
import type { BenchOptions } from './options.ts'
import { waitForQuiet, watchOthers } from './wait-for-quiet.ts'
import type { Measurements, Scenario, Variant } from './scenario.ts'
import type { Workbench } from './environment.ts'

/** One variant in one round, kept raw in the JSON. */
export interface RoundResult {
  readonly round: number
  readonly variant: string
  readonly at: string
  readonly measurements: Measurements | null
  readonly error: string | null
  /** Cores that others used meanwhile. */
  readonly othersCores: number
}

const DEADLINE_MS = 300_000

/**
 * Runs every variant once per round, each time in another order: what the machine does to one round
 * it does to all of its variants, and nobody always comes after the same neighbour.
 */
export async function runRounds(
  scenario: Scenario,
  bench: Workbench,
  options: BenchOptions,
): Promise<RoundResult[]> {
  const rounds = options.quick
    ? options.rounds
    : Math.max(options.rounds, scenario.minRounds ?? options.rounds)
  const results: RoundResult[] = []
  for (let round = 1; round <= rounds; round++) {
    for (const variant of orderOf(scenario.variants, round)) {
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
  bench: Workbench,
  options: BenchOptions,
): Promise<RoundResult> {
  const settings = await variant.arrange(bench, options)
  await waitForQuiet(options.patienceMs)
  const about = { round, variant: variant.name, at: new Date().toISOString() }
  const others = watchOthers(bench.postgres?.pid)
  const child = startChild(variant.script, settings)
  const deadline = setTimeout(() => child.kill('SIGKILL'), variant.deadlineMs ?? DEADLINE_MS)
  // One variant that fails must not cost the figures of the others; the table shows the gap.
  const outcome = await child.next('result').then(
    ({ measurements }) => ({ measurements: measurements as Measurements, error: null }),
    (error: unknown) => ({ measurements: null, error: String(error) }),
  )
  clearTimeout(deadline)
  // What a process has used is ours to see only once it has ended.
  await child.stop()
  const othersCores = others.cores()
  await bench.clear()
  return { ...about, ...outcome, othersCores }
}

/** Every order is followed by the same backwards, and then another begins it. */
export function orderOf<T>(items: readonly T[], round: number): T[] {
  const start = items.length > 0 ? ((round - 1) >> 1) % items.length : 0
  const order = [...items.slice(start), ...items.slice(0, start)]
  return round % 2 === 0 ? order.toReversed() : order
}

function progress(scenario: string, rounds: number, result: RoundResult): string {
  const figures = Object.entries(result.measurements ?? {})
    .map(([name, value]) => `${name} ${Number(value.toPrecision(4))}`)
    .join(', ')
  const noise = `  (others ${result.othersCores.toFixed(1)} cores)`
  const outcome = result.error ?? figures
  return `${scenario} ${result.round}/${rounds}  ${result.variant}: ${outcome}${noise}`
}
