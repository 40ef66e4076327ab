import type { BenchScenario, Variant } from '../harness/scenario.ts'
import { CPU_DETAILS, POSTGRES_LOAD } from './default-loads.ts'
import { databasePid } from './stores.ts'

const HOLD_SECONDS = 60
const QUICK_SECONDS = 5

function sustainedVariant(name: string, holdSnapshot: boolean): Variant {
  return {
    name,
    script: 'sustained.ts',
    arrange: async (bench, { quick }) => ({
      system: 'punctual-in-process',
      purpose: 'throughput',
      store: await bench.database(),
      ...POSTGRES_LOAD,
      ...databasePid(bench, 'postgres'),
      holdSnapshot,
      seconds: quick ? QUICK_SECONDS : HOLD_SECONDS,
    }),
  }
}

export const snapshotScenario: BenchScenario = {
  name: 'snapshot',
  about: `Punctual on PostgreSQL at full rate for ${HOLD_SECONDS} s, with and without another connection holding a REPEATABLE READ snapshot open.`,
  needsPostgres: true,
  needsPeers: false,
  variants: [sustainedVariant('free', false), sustainedVariant('held', true)],
  figures: [
    {
      label: 'no snapshot held',
      variant: 'free',
      measurement: 'runsPerSecond',
      unit: 'runs/s',
    },
    {
      label: 'snapshot held',
      variant: 'held',
      measurement: 'runsPerSecond',
      unit: 'runs/s',
      targets: [{ baselines: ['free'], atLeast: 0.8 }],
    },
    {
      label: 'snapshot held, last 10 s',
      variant: 'held',
      measurement: 'lastSeconds',
      unit: 'runs/s',
      targets: [{ baselines: ['free'], atLeast: 0.8 }],
    },
  ],
  details: CPU_DETAILS,
  notes: ['In-process, closed loop. Rows that die while the snapshot is open cannot be vacuumed.'],
}
