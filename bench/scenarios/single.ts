import type { Figure, BenchScenario, Variant } from '../harness/scenario.ts'
import type { SystemName } from '../systems/system.ts'
import { CPU_DETAILS } from './default-loads.ts'
import { databasePid, freshStore } from './stores.ts'

const CALLERS = 16
const PEERS = ['graphile', 'pg-boss']
const END_TO_END = ' end to end'

type StoreKind = 'sqlite' | 'postgres'

function callerVariants(name: string, system: SystemName, kind: StoreKind): Variant[] {
  return [false, true].map((withWorker) => ({
    name: withWorker ? name + END_TO_END : name,
    script: 'single.ts',
    arrange: async (bench, { seconds }) => ({
      system,
      purpose: 'single',
      store: await freshStore(bench, kind),
      ...databasePid(bench, kind),
      seconds: seconds / 2,
      callers: CALLERS,
      withWorker,
    }),
  }))
}

function figures(label: string, variant: string, atLeast?: number): Figure[] {
  return ['', END_TO_END].map((suffix) => ({
    label: `${label}${suffix && ','}${suffix}`,
    variant: variant + suffix,
    measurement: 'runsPerSecond',
    unit: 'runs/s',
    ...(atLeast && { targets: [{ baselines: PEERS.map((peer) => peer + suffix), atLeast }] }),
  }))
}

export const singleScenario: BenchScenario = {
  name: 'single',
  about: `One durable run per request, ${CALLERS} callers: each submits one, waits for the answer, submits the next.`,
  needsPostgres: true,
  needsPeers: true,
  variants: [
    ...callerVariants('punctual sqlite', 'punctual-http', 'sqlite'),
    ...callerVariants('punctual postgres', 'punctual-http', 'postgres'),
    ...callerVariants('graphile', 'graphile', 'postgres'),
    ...callerVariants('pg-boss', 'pg-boss', 'postgres'),
    {
      name: 'raw postgres',
      script: 'raw-postgres.ts',
      arrange: async (bench, { seconds }) => ({
        store: await bench.database(),
        rows: 1,
        connections: CALLERS,
        seconds: Math.max(1, seconds / 4),
      }),
    },
  ],
  figures: [
    ...figures('Punctual, SQLite, HTTP', 'punctual sqlite', 4),
    ...figures('Punctual, PostgreSQL, HTTP', 'punctual postgres', 3),
    ...figures('graphile-worker `addJob`', 'graphile'),
    ...figures('pg-boss `send`', 'pg-boss'),
    {
      label: 'ceiling: single-row INSERTs, PostgreSQL',
      variant: 'raw postgres',
      measurement: 'runsPerSecond',
      unit: 'rows/s',
    },
  ],
  details: CPU_DETAILS,
  notes: [
    'Lines without *end to end* only submit. *End to end* also runs a worker and measures until the last durable end.',
    `Punctual: a server process, and ${CALLERS} clients in the caller's process, so that no two runs share a request.`,
    'Peers call PostgreSQL directly, without a server in between; graphile-worker with one connection per caller, pg-boss without NOTIFY.',
    'Targets are ratios to the better of the two peers in the same mode.',
  ],
}
