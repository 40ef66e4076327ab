import { join } from 'node:path'
import { changedSince, describeCommit, findCommit, unpackCommit } from '../harness/other-tree.ts'
import type { BenchOptions } from '../harness/options.ts'
import type { Figure, Scenario, Target, Variant } from '../harness/scenario.ts'
import type { Workbench } from '../harness/workbench.ts'
import { latency } from './latency.ts'
import { CPU_DETAILS } from './loads.ts'
import { single } from './single.ts'
import { throughput } from './throughput.ts'

const COMPARED = [throughput, single]
const OTHER_TREE = 'the other commit'
const OUR_TREE = join(import.meta.dirname, '../..')
/** Everything that decides what load is offered, beside the settings, which both sides get from here. */
const LOAD = [
  ...['bench/load', 'bench/systems'],
  ...['throughput', 'single', 'punctual-server'].map((name) => `bench/variants/${name}.ts`),
]

/** A tenth, whichever way is better. */
const NO_SLOWER: Target = { atLeast: 0.9 }
const NO_LATER: Target = { atMost: 1.11 }

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
      return [
        { label: `${scenario.name}: ${label}, old`, variant: old, measurement, unit },
        {
          label: `${scenario.name}: ${label}, new`,
          ...{ variant: nameOf(scenario, variant, 'new'), measurement, unit },
          targets: [{ ...NO_SLOWER, rivals: [old] }],
        },
      ]
    })
}

/** Both sides are up at a time and have a run by turns: one after the other they would meet two disks. */
function latencyByTurns(): Variant[] {
  return latency.variants
    .filter(({ name }) => isOurs(name))
    .map(({ name, arrange }) => ({
      name: `latency, ${name}`,
      script: 'latency-by-turns.ts',
      arrange: async (bench, options) => ({
        sides: {
          old: { ...(await arrange(bench, options)), tree: bench.templates.get(OTHER_TREE) },
          new: { ...(await arrange(bench, options)), tree: OUR_TREE },
        },
      }),
    }))
}

function latencyFigures(): Figure[] {
  return latency.figures
    .filter(({ variant }) => isOurs(variant))
    .flatMap(({ label, variant: name, measurement, unit }) => {
      const variant = `latency, ${name}`
      // A hundredth of a few seconds is a handful of runs: shown, and no ground for a verdict.
      const target = measurement === 'p99' ? {} : NO_LATER
      const old = `old ${measurement}`
      return [
        { label: `latency: ${label}, old`, variant, measurement: old, unit },
        {
          label: `latency: ${label}, new`,
          ...{ variant, measurement: `new ${measurement}`, unit },
          targets: [{ ...target, rivals: [variant], measurement: old }],
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
  variants: [...COMPARED.flatMap(bothSides), ...latencyByTurns()],
  figures: [...COMPARED.flatMap(figuresOf), ...latencyFigures()],
  details: CPU_DETAILS,
  notes: [
    'What is measured, and how, is told by the scenarios of the same names. Both sides run by turns, each its own code in fresh processes: one after the other, and for latency run by run.',
  ],
}
