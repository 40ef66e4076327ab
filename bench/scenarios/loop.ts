import type { Figure, BenchScenario, Variant } from '../harness/scenario.ts'
import { HOSTILE_REQUESTS } from '../load/hostile-requests.ts'
import { freshSqlite } from './stores.ts'

/** The longest time one request may block the event loop. */
const MAX_BUSY_MS = 100
const DEADLINE_MS = 600_000

const variants: readonly Variant[] = [
  {
    name: 'sqlite',
    script: 'loop.ts',
    deadlineMs: DEADLINE_MS,
    arrange: async (bench) => ({ store: await freshSqlite(bench) }),
  },
  {
    name: 'postgres',
    script: 'loop.ts',
    deadlineMs: DEADLINE_MS,
    arrange: async (bench) => ({ store: await bench.database() }),
  },
]

const figures: readonly Figure[] = variants.flatMap(({ name: variant }) =>
  HOSTILE_REQUESTS.flatMap(({ name }) => [
    {
      label: `${variant}: ${name}, processor time at a stretch`,
      variant,
      measurement: `${name} (busy)`,
      unit: 'ms' as const,
      targets: [{ atMost: MAX_BUSY_MS }],
    },
    {
      label: `${variant}: ${name}, delay of the loop`,
      variant,
      measurement: `${name} (delay)`,
      unit: 'ms' as const,
    },
    {
      label: `${variant}: ${name}, slowest /livez`,
      variant,
      measurement: `${name} (probe)`,
      unit: 'ms' as const,
    },
  ]),
)

export const loopScenario: BenchScenario = {
  name: 'loop',
  about: 'How long one hostile request blocks the event loop of a server.',
  needsPostgres: true,
  needsPeers: false,
  isOnRequest: true,
  variants,
  figures,
  notes: [
    'Requests as large as the limits allow, one at a time; includes the work within 0.3 s after the response.',
    "Processor time at a stretch is that of the loop's thread between two samples, 2 ms apart: other processes do not add to it. The delay is elapsed time, measured inside the server; another process requests /livez every 5 ms.",
  ],
}
