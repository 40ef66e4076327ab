import type { Figure, Scenario, Variant } from '../harness/scenario.ts'
import type { Shape } from '../load/workflows.ts'
import { databasePid, freshStore } from './stores.ts'

const KINDS = ['sqlite', 'postgres'] as const
const CALLED = { sqlite: 'Punctual, SQLite', postgres: 'Punctual, PostgreSQL' } as const
const WIDE = 100_000
const CHAIN = 10_000
const MANY = { runs: 1_000, steps: 10 }
const SHORT = 40
const LONG = 10

function plays(kind: (typeof KINDS)[number], shape: Shape, steps: number, runs = 1): Variant {
  return {
    name: `${kind} ${shape}`,
    script: 'dag.ts',
    deadlineMs: 600_000,
    arrange: async (bench, { quick }) => ({
      ...{ store: await freshStore(bench, kind), shape, ...databasePid(bench, kind) },
      ...(quick ? { steps: Math.min(steps, 50), runs: Math.min(runs, 5) } : { steps, runs }),
    }),
  }
}

function figuresOf(kind: (typeof KINDS)[number]): Figure[] {
  const called = CALLED[kind]
  const rate = (label: string, shape: Shape): Figure => ({
    label: `${called}, ${label}`,
    ...{ variant: `${kind} ${shape}`, measurement: 'stepsPerSecond', unit: 'runs/s' },
  })
  const handover = (measurement: 'p50' | 'p99', atMost: number): Figure => ({
    label: `${called}, from a step to the next, ${measurement}`,
    ...{ variant: `${kind} chain`, measurement, unit: 'ms' },
    ...(kind === 'sqlite' && { targets: [{ atMost }] }),
  })
  const whole = (label: string, shape: Shape): Figure => ({
    label: `${called}, ${label}`,
    ...{ variant: `${kind} ${shape}`, measurement: 'seconds', unit: 's' },
  })
  return [
    rate(`${WIDE} steps side by side`, 'wide'),
    {
      label: `${called}, memory that those take`,
      ...{
        variant: `${kind} wide`,
        measurement: 'grownMb',
        unit: 'MB',
        targets: [{ atMost: 300 }],
      },
    },
    rate(`a chain of ${CHAIN}`, 'chain'),
    handover('p50', 4),
    handover('p99', 15),
    rate(`${MANY.runs} workflows of ${MANY.steps}`, 'many'),
    whole(`${SHORT} short Python tasks, one after the other`, 'short'),
    whole(`${LONG} longer Python tasks, one after the other`, 'long'),
  ]
}

export const dag: Scenario = {
  name: 'dag',
  about: `Workflows: ${WIDE} steps at once, ${CHAIN} one after the other, ${MANY.runs} workflows at a time; in-process.`,
  needsPostgres: true,
  needsPeers: false,
  variants: KINDS.flatMap((kind) => [
    plays(kind, 'wide', WIDE),
    plays(kind, 'chain', CHAIN),
    plays(kind, 'many', MANY.steps, MANY.runs),
    plays(kind, 'short', SHORT),
    plays(kind, 'long', LONG),
  ]),
  figures: KINDS.flatMap(figuresOf),
  details: [
    { label: 'MB grown', measurement: 'grownMb' },
    { label: 'MB grown since before it was defined', measurement: 'grownWithDefinitionMb' },
  ],
  notes: [
    'Memory is that of the server, a worker of 10,000 slots and whoever sent the definition, in one process.',
    'Steps are functions of the same process that do nothing, except for the last two lines of each store, whose steps are Python processes that compute a Fibonacci number the naive way.',
    'From a step to the next: from the last line of a handler to the first line of the handler that needed it, both ends durable.',
    `Published by others for the last two, on their machine (two cores of 2023, Python, one worker): ${SHORT} short tasks — Airflow 116.2 s, Kestra 6.0 s, Prefect 4.9 s, Windmill 4.4 s (dedicated 2.1 s), Temporal 3.0 s, Hatchet 1.2 s; ${LONG} longer ones — Airflow 54.7 s, Kestra 15.8 s, Prefect 15.5 s, Windmill 8.3 s, Hatchet 7.8 s, Temporal 7.2 s. Theirs, not ours: no ratio is made of them.`,
  ],
}
