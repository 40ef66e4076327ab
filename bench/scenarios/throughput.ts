import { join } from 'node:path'
import type { BenchOptions } from '../harness/options.ts'
import type { BenchScenario, Variant } from '../harness/scenario.ts'
import type { LoopPlan } from '../load/closed-loop.ts'
import type { SystemName } from '../systems/system.ts'
import { CPU_DETAILS, POSTGRES_LOAD, RUNS_PER_SECOND, SQLITE_LOAD } from './default-loads.ts'
import { databasePid, freshStore } from './stores.ts'

const GRAPHILE = { inFlight: 4_096, batch: 1_000, producers: 1 }
const PG_BOSS = { inFlight: 10_000, batch: 2_000, producers: 2 }

function loadVariant(
  name: string,
  system: SystemName,
  kind: 'sqlite' | 'postgres',
  plan: Omit<LoopPlan, 'runs'>,
): Variant {
  return {
    name,
    script: 'throughput.ts',
    arrange: async (bench, options) => ({
      system,
      purpose: 'throughput',
      store: await freshStore(bench, kind),
      ...databasePid(bench, kind),
      ...plan,
      runs: options.seconds * RUNS_PER_SECOND,
    }),
  }
}

function describeLoad({ inFlight, producers, batch }: Omit<LoopPlan, 'runs'>): string {
  return `${inFlight.toLocaleString('en-US')} in flight, ${producers} producers submitting ${batch} at a time`
}

const ceilingSeconds = ({ seconds }: BenchOptions) => Math.max(1, seconds / 4)

export const throughputScenario: BenchScenario = {
  name: 'throughput',
  about:
    'No-op runs end to end: submitted, acknowledged, handled one by one, ended, all durable; from the ' +
    'first submission to the last durable end.',
  needsPostgres: true,
  needsPeers: true,
  variants: [
    loadVariant('punctual sqlite in-process', 'punctual-in-process', 'sqlite', SQLITE_LOAD),
    loadVariant('punctual sqlite http', 'punctual-http', 'sqlite', SQLITE_LOAD),
    loadVariant('punctual postgres in-process', 'punctual-in-process', 'postgres', POSTGRES_LOAD),
    loadVariant('punctual postgres http', 'punctual-http', 'postgres', POSTGRES_LOAD),
    loadVariant('graphile', 'graphile', 'postgres', GRAPHILE),
    loadVariant('pg-boss', 'pg-boss', 'postgres', PG_BOSS),
    {
      name: 'raw postgres',
      script: 'raw-postgres.ts',
      arrange: async (bench, options) => ({
        store: await bench.database(),
        rows: 100,
        connections: 2,
        seconds: ceilingSeconds(options),
      }),
    },
    {
      name: 'raw sqlite',
      script: 'raw-sqlite.ts',
      arrange: async (bench, options) => ({
        path: join(await bench.directory(), 'raw.db'),
        rows: 100,
        seconds: ceilingSeconds(options),
      }),
    },
  ],
  figures: [
    {
      label: 'Punctual, SQLite, in-process',
      variant: 'punctual sqlite in-process',
      measurement: 'runsPerSecond',
      unit: 'runs/s',
      targets: [{ baselines: ['graphile'], atLeast: 4 }],
    },
    {
      label: 'Punctual, SQLite, HTTP batching client',
      variant: 'punctual sqlite http',
      measurement: 'runsPerSecond',
      unit: 'runs/s',
      targets: [{ baselines: ['graphile'], atLeast: 2.5 }],
    },
    {
      label: 'Punctual, PostgreSQL, in-process',
      variant: 'punctual postgres in-process',
      measurement: 'runsPerSecond',
      unit: 'runs/s',
      targets: [{ baselines: ['graphile'] }],
    },
    {
      label: 'Punctual, PostgreSQL, HTTP batching client',
      variant: 'punctual postgres http',
      measurement: 'runsPerSecond',
      unit: 'runs/s',
      targets: [
        { baselines: ['graphile'], atLeast: 1.5 },
        { baselines: ['pg-boss'], atLeast: 1.1 },
      ],
    },
    { label: 'graphile-worker', variant: 'graphile', measurement: 'runsPerSecond', unit: 'runs/s' },
    { label: 'pg-boss', variant: 'pg-boss', measurement: 'runsPerSecond', unit: 'runs/s' },
    {
      label: 'ceiling: 100-row INSERTs, PostgreSQL',
      variant: 'raw postgres',
      measurement: 'runsPerSecond',
      unit: 'rows/s',
    },
    {
      label: 'ceiling: 100-row INSERTs, SQLite',
      variant: 'raw sqlite',
      measurement: 'runsPerSecond',
      unit: 'rows/s',
    },
  ],
  details: CPU_DETAILS,
  notes: [
    'Producers, workers and databases share the cores. Every variant is warmed up, and afterwards the benchmark checks in the store that every run has ended.',
    `Punctual keeps history; ${describeLoad(SQLITE_LOAD)} (SQLite), ${describeLoad(POSTGRES_LOAD)} (PostgreSQL). HTTP: one server process, one process with client and worker.`,
    'graphile-worker deletes finished jobs: `localQueue.size` 500, `completeJobBatchDelay` and `failJobBatchDelay` 0, `concurrentJobs` 24, pool 10, `addJobs` of 1,000, at most 4,096 in flight (a longer backlog makes it slower).',
    'pg-boss keeps finished jobs: `insert` of 2,000 by two producers, two loops of `fetch` (`batchSize` 2,000) and `complete`, no NOTIFY, at most 10,000 in flight, supervision off.',
    'The ceilings insert rows into a table with a primary key, on two connections (PostgreSQL) or one (SQLite), and schedule nothing.',
  ],
}
