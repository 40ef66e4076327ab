import type { BenchScenario } from '../harness/scenario.ts'
import { POSTGRES_LOAD } from './default-loads.ts'
import { databasePid } from './stores.ts'

export const vacuumScenario: BenchScenario = {
  name: 'vacuum',
  about:
    'Punctual on PostgreSQL at full rate before and after `VACUUM ANALYZE` of its hot tables: once ' +
    'between two loads, when they are empty, and once under full load.',
  needsPostgres: true,
  needsPeers: false,
  variants: [
    {
      name: 'vacuum',
      script: 'vacuum.ts',
      arrange: async (bench, { seconds }) => ({
        system: 'punctual-in-process',
        purpose: 'throughput',
        store: await bench.database(),
        ...POSTGRES_LOAD,
        ...databasePid(bench, 'postgres'),
        seconds: Math.max(4, seconds),
      }),
    },
  ],
  figures: [
    { label: 'before', variant: 'vacuum', measurement: 'before', unit: 'runs/s' },
    {
      label: 'after, tables were empty',
      variant: 'vacuum',
      measurement: 'afterEmpty',
      unit: 'runs/s',
      targets: [{ baselines: ['vacuum'], measurement: 'before' }],
    },
    {
      label: 'after, in full swing',
      variant: 'vacuum',
      measurement: 'afterBusy',
      unit: 'runs/s',
      targets: [{ baselines: ['vacuum'], measurement: 'before' }],
    },
    {
      label: 'lowest 3 s afterwards, of the rate before',
      variant: 'vacuum',
      measurement: 'lowestRatio',
      unit: '×',
      targets: [{ atLeast: 0.8 }],
    },
  ],
  details: [
    { label: 'PostgreSQL µs/run before', measurement: 'usBefore' },
    { label: 'after, empty', measurement: 'usAfterEmpty' },
    { label: 'after, in full swing', measurement: 'usAfterBusy' },
  ],
  notes: ['In-process, closed loop; medians of the seconds of each load.'],
}
