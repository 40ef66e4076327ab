import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { machineLines, type Machine } from './machine.ts'
import { detailTable, markdownTable } from './markdown.ts'
import type { BenchOptions } from './options.ts'
import type { RoundResult } from './rounds.ts'
import type { BenchScenario } from './scenario.ts'
import { spread } from './statistics.ts'
import type { JudgedFigure } from './verdict.ts'
import type { Versions } from './versions.ts'

export interface BenchReport {
  readonly scenario: BenchScenario
  readonly options: BenchOptions
  readonly startedAt: Date
  readonly machine: Machine
  readonly versions: Versions
  readonly settings: Versions | null
  readonly results: readonly RoundResult[]
  readonly figures: readonly JudgedFigure[]
}

export function markdown(report: BenchReport): string {
  const { scenario, options, machine, versions, settings, results, figures } = report
  const noise = spread(results.map(({ othersCores }) => othersCores))
  const failures = results.filter(({ error }) => error !== null)
  return [
    `## ${scenario.name}`,
    '',
    scenario.about,
    '',
    ...machineLines(machine),
    `- Versions: ${pairs(versions)}`,
    `- Durability: SQLite WAL, synchronous=FULL${settings ? `; PostgreSQL ${pairs(settings, '=')}` : ''}`,
    `- Rounds: interleaved, each variant in a fresh process${options.quick ? '; **quick: figures mean nothing**' : ''}`,
    `- Noise: during a measurement other processes used ${noise.median.toFixed(2)} of ${machine.cores} cores (median), ${noise.max.toFixed(2)} at worst`,
    '',
    markdownTable(figures),
    '',
    ...(scenario.details ? [detailTable(scenario, results), ''] : []),
    ...scenario.notes.map((note) => `- ${note}`),
    ...failures.map(
      ({ variant, round, error }) => `- **Failed**: ${variant}, round ${round}: ${error}`,
    ),
    '',
  ].join('\n')
}

/** Writes the whole report with all raw rounds, so that a surprising median can be examined later. */
export function writeJson(report: BenchReport): string {
  const folder = new URL('../results/', import.meta.url)
  mkdirSync(folder, { recursive: true })
  const date = report.startedAt.toISOString().replaceAll(':', '-').slice(0, 19)
  const { scenario, ...rest } = report
  const path = fileURLToPath(new URL(`${scenario.name}-${date}.json`, folder))
  const { name, about, notes } = scenario
  writeFileSync(path, `${JSON.stringify({ name, about, notes, ...rest }, null, 2)}\n`)
  return path
}

function pairs(versions: Versions, sign = ' '): string {
  return Object.entries(versions)
    .map(([name, value]) => `${name}${sign}${value}`)
    .join(', ')
}
