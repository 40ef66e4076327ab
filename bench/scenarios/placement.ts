import type { Figure, BenchScenario, Variant } from '../harness/scenario.ts'
import type { RunShape } from '../systems/run-shapes.ts'
import { CPU_DETAILS, POSTGRES_LOAD, RUNS_PER_SECOND, SQLITE_LOAD } from './default-loads.ts'
import { databasePid, freshStore } from './stores.ts'

const STORE_KINDS = ['sqlite', 'postgres'] as const
const STORE_LABELS = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const
const LOADS = { sqlite: SQLITE_LOAD, postgres: POSTGRES_LOAD } as const

function variants(...shapes: RunShape[]): Variant[] {
  return STORE_KINDS.flatMap((kind) =>
    (['plain', ...shapes] as const).map((each) => ({
      name: `${kind} ${each}`,
      script: 'throughput.ts',
      arrange: async (bench, options) => ({
        system: 'punctual-in-process',
        purpose: 'throughput',
        shape: each,
        store: await freshStore(bench, kind),
        ...databasePid(bench, kind),
        ...LOADS[kind],
        runs: options.seconds * RUNS_PER_SECOND,
      }),
    })),
  )
}

function figures(shape: RunShape, atLeast: number): Figure[] {
  return STORE_KINDS.flatMap((kind) => [
    {
      label: `${STORE_LABELS[kind]}, ${shape}`,
      variant: `${kind} ${shape}`,
      measurement: 'runsPerSecond',
      unit: 'runs/s',
      targets: [{ baselines: [`${kind} plain`], atLeast }],
    },
    {
      label: `${STORE_LABELS[kind]}, plain`,
      variant: `${kind} plain`,
      measurement: 'runsPerSecond',
      unit: 'runs/s',
    },
  ])
}

/** Shown without a bound, because the time that runs wait at a saturated gate is part of the figure. */
const crowdedFigures = STORE_KINDS.map((kind): Figure => ({
  label: `${STORE_LABELS[kind]}, crowded`,
  variant: `${kind} crowded`,
  measurement: 'runsPerSecond',
  unit: 'runs/s',
  targets: [{ baselines: [`${kind} plain`] }],
}))

const COMMON = { needsPostgres: true, needsPeers: false, details: CPU_DETAILS } as const

/** Measures the cost of choosing a worker by queue and label. */
export const placementScenario: BenchScenario = {
  ...COMMON,
  name: 'placement',
  about:
    'No-op runs over 20 queues and 10 labels, 200 lanes in total, compared with runs without requirements; one ' +
    'worker that serves all of them.',
  variants: variants('placed'),
  figures: figures('placed', 0.8),
  notes: ['Queues of a worker are tiers: the first is served before the second, and so on.'],
}

/** Measures the cost of concurrency limits. */
export const limitsScenario: BenchScenario = {
  ...COMMON,
  name: 'limits',
  about:
    'No-op runs with one of 50 concurrency keys, at most 128 of each at once (gated) or 100 (crowded), ' +
    'compared with runs without a key.',
  variants: variants('gated', 'crowded'),
  figures: [...figures('gated', 0.6), ...crowdedFigures],
  notes: [
    'With 4,096 runs submitted and not handled, and those whose ends are not stored yet, each key has 100 to 120 runs: ' +
      'gated, nearly all pass at once; crowded, about a third is stored as blocked, admitted later and claimed.',
  ],
}
