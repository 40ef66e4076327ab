import type { Figure, BenchScenario, FigureTarget, Variant } from '../harness/scenario.ts'
import type { SystemName } from '../systems/system.ts'
import { freshStore } from './stores.ts'

const SAMPLES = 400
const QUICK_SAMPLES = 50

function latencyVariant(name: string, system: SystemName, kind: 'sqlite' | 'postgres'): Variant {
  return {
    name,
    script: 'latency.ts',
    arrange: async (bench, { quick }) => ({
      system,
      purpose: 'latency',
      store: await freshStore(bench, kind),
      samples: quick ? QUICK_SAMPLES : SAMPLES,
    }),
  }
}

function figures(
  label: string,
  variant: string,
  targets: { p50?: FigureTarget; p99?: FigureTarget } = {},
): Figure[] {
  return (['p50', 'p99'] as const).map((measurement) => ({
    label: `${label}, ${measurement}`,
    variant,
    measurement,
    unit: 'ms',
    targets: targets[measurement] ? [targets[measurement]] : [],
  }))
}

const NO_WORSE_THAN_GRAPHILE = { baselines: ['graphile'], atMost: 1 }

export const latencyScenario: BenchScenario = {
  name: 'latency',
  about: `Idle system, one run at a time: from the call that submits to the first line of its handler (${SAMPLES} samples a round).`,
  needsPostgres: true,
  needsPeers: true,
  variants: [
    latencyVariant('punctual sqlite in-process', 'punctual-in-process', 'sqlite'),
    latencyVariant('punctual postgres in-process', 'punctual-in-process', 'postgres'),
    latencyVariant('punctual sqlite http', 'punctual-http', 'sqlite'),
    latencyVariant('punctual postgres http', 'punctual-http', 'postgres'),
    latencyVariant('graphile', 'graphile', 'postgres'),
    latencyVariant('pg-boss', 'pg-boss', 'postgres'),
  ],
  figures: [
    ...figures('Punctual, SQLite, in-process', 'punctual sqlite in-process', {
      p50: { atMost: 1.5 },
    }),
    ...figures('Punctual, PostgreSQL, in-process', 'punctual postgres in-process', {
      p50: NO_WORSE_THAN_GRAPHILE,
    }),
    ...figures('Punctual, SQLite, HTTP', 'punctual sqlite http', {
      p50: { atMost: 3 },
      p99: { atMost: 8 },
    }),
    ...figures('Punctual, PostgreSQL, HTTP', 'punctual postgres http', {
      p50: { baselines: ['graphile'] },
    }),
    ...figures('graphile-worker', 'graphile'),
    ...figures('pg-boss', 'pg-boss'),
  ],
  notes: [
    'Runs are 5 to 20 ms apart, at random. Submitter and worker share a process and so a clock; over HTTP each has its own connection to a server process.',
    'graphile-worker without local queue and batching (both add delay), `concurrentJobs` 8; pg-boss with LISTEN/NOTIFY, `batchSize` 1.',
  ],
}
