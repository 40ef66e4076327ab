import type { Figure, Scenario, Variant } from '../harness/scenario.ts'
import type { Shape } from '../systems/run-shapes.ts'
import { CPU_DETAILS, POSTGRES_LOAD, RUNS_PER_SECOND, SQLITE_LOAD } from './default-loads.ts'
import { databasePid, freshStore } from './stores.ts'

const KINDS = ['sqlite', 'postgres'] as const
const CALLED = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const
const LOADS = { sqlite: SQLITE_LOAD, postgres: POSTGRES_LOAD } as const

function variants(...shapes: Shape[]): Variant[] {
  return KINDS.flatMap((kind) =>
    (['plain', ...shapes] as const).map((each) => ({
      name: `${kind} ${each}`,
      script: 'throughput.ts',
      arrange: async (bench, options) => ({
        ...{ system: 'punctual-in-process', purpose: 'throughput', shape: each },
        store: await freshStore(bench, kind),
        ...databasePid(bench, kind),
        ...LOADS[kind],
        runs: options.seconds * RUNS_PER_SECOND,
      }),
    })),
  )
}

function figures(shape: Shape, atLeast: number): Figure[] {
  return KINDS.flatMap((kind) => [
    {
      ...{ label: `${CALLED[kind]}, ${shape}`, variant: `${kind} ${shape}` },
      ...{ measurement: 'runsPerSecond', unit: 'runs/s' },
      targets: [{ rivals: [`${kind} plain`], atLeast }],
    },
    {
      ...{ label: `${CALLED[kind]}, plain`, variant: `${kind} plain` },
      ...{ measurement: 'runsPerSecond', unit: 'runs/s' },
    },
  ])
}

/** What it costs to have to wait is for the reader to judge. */
const crowded = KINDS.map((kind): Figure => ({
  ...{ label: `${CALLED[kind]}, crowded`, variant: `${kind} crowded` },
  ...{ measurement: 'runsPerSecond', unit: 'runs/s' },
  targets: [{ rivals: [`${kind} plain`] }],
}))

const COMMON = { needsPostgres: true, needsPeers: false, details: CPU_DETAILS } as const

/** What choosing the worker costs. */
export const placement: Scenario = {
  ...COMMON,
  name: 'placement',
  about:
    'No-op runs over 20 queues and 10 labels, 200 lanes in all, beside runs that ask for nothing; one ' +
    'worker that serves everything.',
  variants: variants('placed'),
  figures: figures('placed', 0.8),
  notes: ['Queues of a worker are tiers: the first is served before the second, and so on.'],
}

/** What limiting concurrency costs. */
export const limits: Scenario = {
  ...COMMON,
  name: 'limits',
  about:
    'No-op runs with one of 50 concurrency keys, at most 128 of each at once (gated) or 100 (crowded), ' +
    'beside runs without.',
  variants: variants('gated', 'crowded'),
  figures: [...figures('gated', 0.6), ...crowded],
  notes: [
    'With 4,096 runs between submitting and handling, and those whose ends are on their way, 100 to 120 fall on a key: ' +
      'gated, nearly all pass at once; crowded, about a third is written in a line, let through and claimed.',
  ],
}
