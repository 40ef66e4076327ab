import { join } from 'node:path'
import { changedSince, describeCommit, findCommit, unpackCommit } from '../harness/other-tree.ts'
import type { BenchOptions } from '../harness/options.ts'
import type { Figure, Scenario, Target, Variant } from '../harness/scenario.ts'
import type { Workbench } from '../harness/workbench.ts'
import { latency } from './latency.ts'
import { CPU_DETAILS } from './loads.ts'
import { single } from './single.ts'
import { throughput } from './throughput.ts'

const COMPARED = [throughput, single, latency]
const OTHER_TREE = 'the other commit'
/** Everything that decides what load is offered, beside the settings, which both sides get from here. */
const LOAD = [
  ...['bench/load', 'bench/systems'],
  ...['throughput', 'single', 'latency', 'punctual-server'].map(
    (name) => `bench/variants/${name}.ts`,
  ),
]

const isOurs = (name: string) => name.startsWith('punctual')

async function prepare(bench: Workbench, options: BenchOptions): Promise<string[]> {
  const commit = await findCommit(options.commit)
  const folder = join(bench.home, 'other')
  await unpackCommit(commit, folder)
  bench.templates.set(OTHER_TREE, folder)
  const [old, now, changes, load] = await Promise.all([
    describeCommit(commit),
    describeCommit('HEAD'),
    changedSince('HEAD', ['src']),
    changedSince(commit, LOAD),
  ])
  return [
    `Old: ${old}. New: ${now}${changes.length > 0 ? ', and what is not committed yet' : ''}.`,
    load.length > 0
      ? `Each side offers the load with its own files, and these were different: ${load.join(', ')}.`
      : 'The files that offer the load are the same on both sides.',
  ]
}

/** The old one right before the new one, so that both see the same machine. */
function bothSides(scenario: Scenario): Variant[] {
  return scenario.variants
    .filter(({ name }) => isOurs(name))
    .flatMap((variant) => [
      { ...variant, name: nameOf(scenario, variant.name, 'old'), tree: OTHER_TREE },
      { ...variant, name: nameOf(scenario, variant.name, 'new') },
    ])
}

function figuresOf(scenario: Scenario): Figure[] {
  return scenario.figures
    .filter(({ variant }) => isOurs(variant))
    .flatMap(({ label, variant, measurement, unit }) => {
      const old = nameOf(scenario, variant, 'old')
      // A tenth, whichever way is better.
      const target: Target = unit === 'ms' ? { atMost: 1.11 } : { atLeast: 0.9 }
      return [
        { label: `${scenario.name}: ${label}, old`, variant: old, measurement, unit },
        {
          label: `${scenario.name}: ${label}, new`,
          ...{ variant: nameOf(scenario, variant, 'new'), measurement, unit },
          // A hundredth of a few seconds is a handful of runs: shown, and no ground for a verdict.
          targets: [{ ...(measurement === 'p99' ? {} : target), rivals: [old] }],
        },
      ]
    })
}

function nameOf({ name }: Scenario, variant: string, side: 'old' | 'new'): string {
  return `${name}, ${variant}, ${side}`
}

export const against: Scenario = {
  name: 'against',
  about: 'The working tree beside another commit of this repository, under the same load.',
  isOnRequest: true,
  needsPostgres: true,
  needsPeers: false,
  prepare,
  variants: COMPARED.flatMap(bothSides),
  figures: COMPARED.flatMap(figuresOf),
  details: CPU_DETAILS,
  notes: [
    'What is measured, and how, is told by the scenarios of the same names. Both sides run by turns, each its own code in fresh processes.',
  ],
}
