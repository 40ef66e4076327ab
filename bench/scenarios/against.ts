import { join } from 'node:path'
import { changedSince, describeCommit, findCommit, unpackCommit } from '../harness/other-tree.ts'
import type { BenchOptions } from '../harness/options.ts'
import type { Figure, BenchScenario, FigureTarget, Variant } from '../harness/scenario.ts'
import type { BenchEnvironment } from '../harness/environment.ts'
import { latencyScenario } from './latency.ts'
import { CPU_DETAILS } from './default-loads.ts'
import { singleScenario } from './single.ts'
import { throughputScenario } from './throughput.ts'

/** The scenarios that compare both sides, and the script that runs them in alternation. */
const COMPARED_SCENARIOS = [
  { scenario: throughputScenario, script: 'interleaved-rates.ts' },
  { scenario: singleScenario, script: 'interleaved-rates.ts' },
  { scenario: latencyScenario, script: 'interleaved-latency.ts' },
]
const SIDES = ['old', 'new'] as const
const OTHER_TREE = 'the other commit'
const OUR_TREE = join(import.meta.dirname, '../..')
/** Files that each side loads from its own tree. */
const SIDE_FILES = ['bench/systems', 'bench/variants/punctual-server.ts']

/** A tenth worse is allowed. */
const TARGETS: Readonly<Record<string, FigureTarget>> = {
  runsPerSecond: { atLeast: 0.9 },
  p50: { atMost: 1.11 },
  // The p99 of a few seconds rests on a handful of runs: shown, but not judged.
  p99: {},
}

const isPunctual = (name: string) => name.startsWith('punctual')

async function prepare(bench: BenchEnvironment, options: BenchOptions): Promise<string[]> {
  const commit = await findCommit(options.commit)
  const folder = join(bench.home, 'other')
  await unpackCommit(commit, folder)
  bench.templates.set(OTHER_TREE, folder)
  const [old, current, changes, differingFiles] = await Promise.all([
    describeCommit(commit),
    describeCommit('HEAD'),
    changedSince('HEAD', ['src']),
    changedSince(commit, SIDE_FILES),
  ])
  return [
    `Old: ${old}. New: ${current}${changes.length > 0 ? ', with uncommitted changes' : ''}.`,
    differingFiles.length > 0
      ? `Each side loads its own copy of the benchmark files; these differ: ${differingFiles.join(', ')}.`
      : 'The benchmark files that each side loads are the same.',
  ]
}

/** Runs both sides at the same time and alternates: the machine's speed changes too much to run them in sequence. */
function interleavedVariants({ scenario, script }: (typeof COMPARED_SCENARIOS)[number]): Variant[] {
  return scenario.variants
    .filter(({ name }) => isPunctual(name))
    .map(({ name, arrange }) => ({
      name: variantName(scenario, name),
      script,
      arrange: async (bench, options) => ({
        sides: {
          old: { ...(await arrange(bench, options)), tree: bench.templates.get(OTHER_TREE) },
          new: { ...(await arrange(bench, options)), tree: OUR_TREE },
        },
      }),
    }))
}

function comparisonFigures({ scenario }: (typeof COMPARED_SCENARIOS)[number]): Figure[] {
  return scenario.figures
    .filter((figure) => isPunctual(figure.variant))
    .flatMap(({ label, variant: name, measurement, unit }) => {
      const variant = variantName(scenario, name)
      const baseline = { baselines: [variant], measurement: `old ${measurement}` }
      return SIDES.map((side) => ({
        label: `${scenario.name}: ${label}, ${side}`,
        variant,
        measurement: `${side} ${measurement}`,
        unit,
        targets: side === 'new' ? [{ ...TARGETS[measurement], ...baseline }] : [],
      }))
    })
}

const variantName = ({ name }: BenchScenario, variant: string) => `${name}, ${variant}`

export const againstScenario: BenchScenario = {
  name: 'against',
  about: 'The working tree compared with another commit of this repository, under the same load.',
  isOnRequest: true,
  needsPostgres: true,
  needsPeers: false,
  prepare,
  variants: COMPARED_SCENARIOS.flatMap(interleavedVariants),
  figures: COMPARED_SCENARIOS.flatMap(comparisonFigures),
  details: CPU_DETAILS.flatMap(({ label, measurement }) =>
    SIDES.map((side) => ({ label: `${label}, ${side}`, measurement: `${side} ${measurement}` })),
  ),
  notes: [
    'The scenarios of the same names define what is measured. Both sides run at the same time, each in its own process, and are measured in alternation: sixteen portions of a quarter or half a second each, for latency one run each.',
  ],
}
