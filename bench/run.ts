import { fileURLToPath } from 'node:url'
import { PROFILE_VARIABLE } from './harness/child.ts'
import { installPeers } from './harness/peers.ts'
import { describeMachine } from './harness/machine.ts'
import { readBenchOptions, type BenchOptions } from './harness/options.ts'
import { markdown, writeJson } from './harness/report.ts'
import { runRounds } from './harness/rounds.ts'
import { skipMissingTools } from './harness/missing-tools.ts'
import type { BenchScenario } from './harness/scenario.ts'
import { judgeFigures, type JudgedTarget } from './harness/verdict.ts'
import { collectVersions, postgresSettings } from './harness/versions.ts'
import { openBenchEnvironment, type BenchEnvironment } from './harness/environment.ts'
import { SCENARIOS } from './scenarios/index.ts'

const PROFILES = new URL('./results/profiles/', import.meta.url)

/** `npm run bench -- [scenario…]`: writes tables to stdout, progress to stderr, raw rounds to results/. */
async function main(): Promise<void> {
  const options = readBenchOptions(process.argv.slice(2))
  if (options.list)
    return SCENARIOS.forEach(({ name, about }) => console.log(`${name}\n  ${about}`))
  const scenarios = chooseScenarios(options.scenarios)
  if (scenarios.some(({ needsPeers }) => needsPeers)) await installPeers()
  if (options.profile) process.env[PROFILE_VARIABLE] = fileURLToPath(PROFILES)
  let missed = 0
  for (const scenario of scenarios) {
    missed += await runScenario(
      skipMissingTools(filterVariants(scenario, options.only ?? '')),
      options,
    )
  }
  console.error(missed === 0 ? 'every target met' : `${missed} targets missed or not measured`)
}

function chooseScenarios(names: readonly string[]): readonly BenchScenario[] {
  if (names.length === 0) return SCENARIOS.filter(({ isOnRequest }) => !isOnRequest)
  return names.map((name) => {
    const found = SCENARIOS.find((scenario) => scenario.name === name)
    if (!found)
      throw new Error(`no scenario ${name}; there are ${SCENARIOS.map((s) => s.name).join(', ')}`)
    return found
  })
}

function filterVariants(scenario: BenchScenario, only: string): BenchScenario {
  const isSelected = (name: string) => name.includes(only)
  return {
    ...scenario,
    variants: scenario.variants.filter(({ name }) => isSelected(name)),
    figures: scenario.figures.filter(({ variant }) => isSelected(variant)),
  }
}

async function runScenario(scenario: BenchScenario, options: BenchOptions): Promise<number> {
  const startedAt = new Date()
  const bench = await openBenchEnvironment({ withPostgres: scenario.needsPostgres })
  const abandon = () => void bench.close().finally(() => process.exit(130))
  process.once('SIGINT', abandon)
  process.once('SIGTERM', abandon)
  try {
    const report = await measureScenario(scenario, options, bench, startedAt)
    console.log(markdown(report))
    console.error(`raw rounds: ${writeJson(report)}`)
    return report.figures.flatMap(({ targets }) => targets).filter(isMissed).length
  } finally {
    process.off('SIGINT', abandon)
    process.off('SIGTERM', abandon)
    await bench.close()
  }
}

async function measureScenario(
  scenario: BenchScenario,
  options: BenchOptions,
  bench: BenchEnvironment,
  startedAt: Date,
) {
  const machine = describeMachine(bench.home)
  const versions = await collectVersions(bench, scenario.needsPeers)
  const settings = bench.postgres ? await postgresSettings(bench.postgres.url) : null
  const notes = [...scenario.notes, ...((await scenario.prepare?.(bench, options)) ?? [])]
  const results = await runRounds(scenario, bench, options)
  const figures = judgeFigures(scenario, results)
  return {
    scenario: { ...scenario, notes },
    options,
    startedAt,
    machine,
    versions,
    settings,
    results,
    figures,
  }
}

/** A target without a bound only shows a ratio; it cannot be missed. */
function isMissed({ target, met }: JudgedTarget): boolean {
  return (target.atLeast !== undefined || target.atMost !== undefined) && met !== true
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
