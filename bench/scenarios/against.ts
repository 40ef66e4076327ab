import { join } from 'node:path'
import { changedSince, describeCommit, findCommit, unpackCommit } from '../harness/other-tree.ts'
import type { BenchOptions } from '../harness/options.ts'
import type { Figure, Scenario, Target, Variant } from '../harness/scenario.ts'
import type { Workbench } from '../harness/environment.ts'
import { latency } from './latency.ts'
import { CPU_DETAILS } from './default-loads.ts'
import { single } from './single.ts'
import { throughput } from './throughput.ts'

/** How each is measured with both sides up. */
const COMPARED = [
  { scenario: throughput, script: 'interleaved-rates.ts' },
  { scenario: single, script: 'interleaved-rates.ts' },
  { scenario: latency, script: 'interleaved-latency.ts' },
]
const SIDES = ['old', 'new'] as const
const OTHER_TREE = 'the other commit'
const OUR_TREE = join(import.meta.dirname, '../..')
/** Of what offers the load, the files that each side has of its own. */
const OWN = ['bench/systems', 'bench/variants/punctual-server.ts']

/** A tenth, whichever way is better. */
const TARGETS: Readonly<Record<string, Target>> = {
  runsPerSecond: { atLeast: 0.9 },
  p50: { atMost: 1.11 },
  // A hundredth of a few seconds is a handful of runs: shown, and no ground for a verdict.
  p99: {},
}

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
    changedSince(commit, OWN),
  ])
  return [
    `Old: ${old}. New: ${now}${changes.length > 0 ? ', and what is not committed yet' : ''}.`,
    load.length > 0
      ? `Each side is called by its own files, and these were different: ${load.join(', ')}.`
      : 'The files by which it is called are the same on both sides.',
  ]
}

/** Both sides are up at a time and have their turns: one after the other they would meet two machines. */
function byTurns({ scenario, script }: (typeof COMPARED)[number]): Variant[] {
  return scenario.variants
    .filter(({ name }) => isOurs(name))
    .map(({ name, arrange }) => ({
      name: nameOf(scenario, name),
      script,
      arrange: async (bench, options) => ({
        sides: {
          old: { ...(await arrange(bench, options)), tree: bench.templates.get(OTHER_TREE) },
          new: { ...(await arrange(bench, options)), tree: OUR_TREE },
        },
      }),
    }))
}

function figuresOf({ scenario }: (typeof COMPARED)[number]): Figure[] {
  return scenario.figures
    .filter((figure) => isOurs(figure.variant))
    .flatMap(({ label, variant: name, measurement, unit }) => {
      const variant = nameOf(scenario, name)
      const rival = { rivals: [variant], measurement: `old ${measurement}` }
      return SIDES.map((side) => ({
        label: `${scenario.name}: ${label}, ${side}`,
        ...{ variant, measurement: `${side} ${measurement}`, unit },
        targets: side === 'new' ? [{ ...TARGETS[measurement], ...rival }] : [],
      }))
    })
}

const nameOf = ({ name }: Scenario, variant: string) => `${name}, ${variant}`

export const against: Scenario = {
  name: 'against',
  about: 'The working tree beside another commit of this repository, under the same load.',
  isOnRequest: true,
  needsPostgres: true,
  needsPeers: false,
  prepare,
  variants: COMPARED.flatMap(byTurns),
  figures: COMPARED.flatMap(figuresOf),
  details: CPU_DETAILS.flatMap(({ label, measurement }) =>
    SIDES.map((side) => ({ label: `${label}, ${side}`, measurement: `${side} ${measurement}` })),
  ),
  notes: [
    'What is measured is told by the scenarios of the same names. Both sides are up in processes of their own and have their turns: sixteen portions of a quarter or half a second each, for latency one run each.',
  ],
}
