import type { Figure, BenchScenario } from '../harness/scenario.ts'
import { freshStore } from './stores.ts'

function recoveryFigure(label: string, variant: string, atMost: number): Figure {
  return {
    label,
    variant,
    measurement: 'seconds',
    unit: 's',
    targets: [{ atMost, worst: true }],
  }
}

const DEADLINE_MS = 120_000

export const recoveryScenario: BenchScenario = {
  name: 'recovery',
  about: 'Recovery times after a kill, with the default leases: one kill per round.',
  needsPostgres: true,
  needsPeers: false,
  minRounds: 5,
  variants: [
    ...(['sqlite', 'postgres'] as const).map((kind) => ({
      name: `worker gone, ${kind}`,
      script: 'recovery-worker-killed.ts',
      arrange: async (bench: Parameters<typeof freshStore>[0]) => ({
        store: await freshStore(bench, kind),
      }),
      deadlineMs: DEADLINE_MS,
    })),
    {
      name: 'node gone',
      script: 'recovery-node-killed.ts',
      arrange: async (bench) => ({ store: await bench.database() }),
      deadlineMs: DEADLINE_MS,
    },
    {
      name: 'database back',
      script: 'recovery-database-restarted.ts',
      arrange: async () => ({}),
      deadlineMs: DEADLINE_MS,
    },
  ],
  figures: [
    recoveryFigure('worker killed → its run started elsewhere, SQLite', 'worker gone, sqlite', 15),
    recoveryFigure(
      'worker killed → its run started elsewhere, PostgreSQL',
      'worker gone, postgres',
      15,
    ),
    recoveryFigure('node killed → all its sessions served by the other', 'node gone', 3),
    recoveryFigure('PostgreSQL accepts again → new runs handled', 'database back', 5),
  ],
  notes: [
    'Processes are killed with -9; PostgreSQL is restarted with `-m immediate`. Median and min – max of the rounds; targets are judged on the slowest.',
    'Node: five sessions, each in the middle of a run, which the other node adopts and does not run again. The other node then assigns each session a new run.',
  ],
}
