import type { Figure, BenchScenario, Variant } from '../harness/scenario.ts'
import type { WorkflowShape } from '../load/workflows.ts'
import { databasePid, freshStore } from './stores.ts'

const STORE_KINDS = ['sqlite', 'postgres'] as const
const STORE_LABELS = { sqlite: 'Punctual, SQLite', postgres: 'Punctual, PostgreSQL' } as const
const WIDE = 100_000
const CHAIN = 10_000
const MANY = { runs: 1_000, steps: 10 }
const SHORT = 40
const LONG = 10

function workflowVariant(
  kind: (typeof STORE_KINDS)[number],
  shape: WorkflowShape,
  steps: number,
  runs = 1,
): Variant {
  return {
    name: `${kind} ${shape}`,
    script: 'dag.ts',
    deadlineMs: 600_000,
    arrange: async (bench, { quick }) => ({
      store: await freshStore(bench, kind),
      shape,
      ...databasePid(bench, kind),
      ...(quick ? { steps: Math.min(steps, 50), runs: Math.min(runs, 5) } : { steps, runs }),
    }),
  }
}

function storeFigures(kind: (typeof STORE_KINDS)[number]): Figure[] {
  const called = STORE_LABELS[kind]
  const rate = (label: string, shape: WorkflowShape): Figure => ({
    label: `${called}, ${label}`,
    variant: `${kind} ${shape}`,
    measurement: 'stepsPerSecond',
    unit: 'runs/s',
  })
  const stepDelay = (measurement: 'p50' | 'p99', atMost: number): Figure => ({
    label: `${called}, from a step to the next, ${measurement}`,
    variant: `${kind} chain`,
    measurement,
    unit: 'ms',
    ...(kind === 'sqlite' && { targets: [{ atMost }] }),
  })
  const whole = (label: string, shape: WorkflowShape): Figure => ({
    label: `${called}, ${label}`,
    variant: `${kind} ${shape}`,
    measurement: 'seconds',
    unit: 's',
  })
  return [
    rate(`${WIDE} steps side by side`, 'wide'),
    {
      label: `${called}, memory that those take`,
      variant: `${kind} wide`,
      measurement: 'grownMb',
      unit: 'MB',
      targets: [{ atMost: 300 }],
    },
    rate(`a chain of ${CHAIN}`, 'chain'),
    stepDelay('p50', 4),
    stepDelay('p99', 15),
    rate(`${MANY.runs} workflows of ${MANY.steps}`, 'many'),
    whole(`${SHORT} short Python tasks, one after the other`, 'short'),
    whole(`${LONG} longer Python tasks, one after the other`, 'long'),
  ]
}

export const dagScenario: BenchScenario = {
  name: 'dag',
  about: `Workflows: ${WIDE} steps at once, ${CHAIN} one after the other, ${MANY.runs} workflows at a time; in-process.`,
  needsPostgres: true,
  needsPeers: false,
  variants: STORE_KINDS.flatMap((kind) => [
    workflowVariant(kind, 'wide', WIDE),
    workflowVariant(kind, 'chain', CHAIN),
    workflowVariant(kind, 'many', MANY.steps, MANY.runs),
    workflowVariant(kind, 'short', SHORT),
    workflowVariant(kind, 'long', LONG),
  ]),
  figures: STORE_KINDS.flatMap(storeFigures),
  details: [
    { label: 'MB grown', measurement: 'grownMb' },
    { label: 'MB grown since before it was defined', measurement: 'grownWithDefinitionMb' },
  ],
  notes: [
    'Memory is that of one process with the server, a worker of 10,000 slots and the client that sent the definition.',
    'Steps are functions of the same process that do nothing, except for the last two lines of each store, whose steps are Python processes that compute a Fibonacci number recursively.',
    'From a step to the next: from the last line of a handler to the first line of the handler that needed it; the end of the first is durable by then.',
    `Published by others for the last two, on their machine (two cores of 2023, Python, one worker): ${SHORT} short tasks — Airflow 116.2 s, Kestra 6.0 s, Prefect 4.9 s, Windmill 4.4 s (dedicated 2.1 s), Temporal 3.0 s, Hatchet 1.2 s; ${LONG} longer ones — Airflow 54.7 s, Kestra 15.8 s, Prefect 15.5 s, Windmill 8.3 s, Hatchet 7.8 s, Temporal 7.2 s. Measured by others: no ratios are computed.`,
  ],
}
