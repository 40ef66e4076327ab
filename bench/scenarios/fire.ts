import { REDIS_DURABILITY } from '../harness/redis-server.ts'
import type { Figure, BenchScenario, FigureTarget, Variant } from '../harness/scenario.ts'
import type { FireSettings } from '../variants/fire.ts'
import { freshStore } from './stores.ts'

const STORE_KINDS = ['sqlite', 'postgres'] as const
const STORE_LABELS = { sqlite: 'Punctual, SQLite', postgres: 'Punctual, PostgreSQL' } as const
const EACH_SECOND = 1_000
const INSTANT = 5_000
const HERD = 60_000
const FEW_FUTURE = 1_000
const MANY_FUTURE = 1_000_000

const REDIS_SETTINGS = Object.entries(REDIS_DURABILITY)
  .map((pair) => `\`${pair.join(' ')}\``)
  .join(', ')

type FireLoad = Pick<FireSettings, 'count' | 'everyMs' | 'warmUp' | 'times'>
type LoadOf = (seconds: number, quick: boolean) => FireLoad

const eachSecond: LoadOf = (seconds) => ({
  count: EACH_SECOND,
  everyMs: 1_000,
  warmUp: 5,
  times: seconds,
})
const oneInstant: LoadOf = (_, quick) => ({
  count: quick ? 500 : INSTANT,
  everyMs: 5_000,
  warmUp: 2,
  times: quick ? 1 : 3,
})
const herd: LoadOf = (_, quick) => ({
  count: quick ? 2_000 : HERD,
  everyMs: 30_000,
  warmUp: 0,
  times: 1,
})

function fireVariant(
  system: 'punctual' | 'graphile',
  kind: (typeof STORE_KINDS)[number],
  what: string,
  load: LoadOf,
  futureSchedules = FEW_FUTURE,
): Variant {
  return {
    name: `${system === 'graphile' ? system : kind} ${what}`,
    script: 'fire.ts',
    deadlineMs: 600_000,
    arrange: async (bench, { seconds, quick }) => ({
      system,
      store: await freshStore(bench, kind),
      futureSchedules: quick ? FEW_FUTURE : futureSchedules,
      ...(kind === 'postgres' && { serverPid: bench.postgres?.pid }),
      ...load(seconds, quick),
    }),
  }
}

function bullMqVariant(by: 'delayed' | 'schedulers', what: string, load: LoadOf): Variant {
  return {
    name: `bullmq ${what}`,
    script: 'fire.ts',
    tool: 'redis-server',
    deadlineMs: 600_000,
    arrange: async (bench, { seconds, quick }) => {
      const { url: store, pid: serverPid } = await bench.redis()
      return {
        system: `bullmq ${by}`,
        store,
        serverPid,
        futureSchedules: 0,
        ...load(seconds, quick),
      }
    },
  }
}

function lagFigures(label: string, variant: string, p50?: number, p99?: number): Figure[] {
  const figure = (measurement: string, atMost?: number): Figure => ({
    label: `${label}, ${measurement}`,
    variant,
    measurement,
    unit: 'ms',
    targets: atMost === undefined ? [] : [{ atMost }],
  })
  return [figure('p50', p50), figure('p99', p99)]
}

function herdFigures(label: string, variant: string, targets: FigureTarget[] = []): Figure[] {
  return [
    { label: `${label}, herd`, variant, measurement: 'firesPerSecond', unit: 'runs/s' },
    {
      label: `${label}, herd: submit, p99`,
      variant,
      measurement: 'submitP99',
      unit: 'ms',
      targets,
    },
  ]
}

export const fireScenario: BenchScenario = {
  name: 'fire',
  about:
    `From a schedule's nominal fire time to the first line of the handler: ${EACH_SECOND} schedules every ` +
    `second, ${INSTANT} at one instant, and a herd of ${HERD}; in-process.`,
  needsPostgres: true,
  needsPeers: true,
  variants: [
    ...STORE_KINDS.flatMap((kind) => [
      fireVariant('punctual', kind, 'each second', eachSecond),
      fireVariant('punctual', kind, 'each second beside many', eachSecond, MANY_FUTURE),
      fireVariant('punctual', kind, 'one instant', oneInstant),
      fireVariant('punctual', kind, 'herd', herd),
    ]),
    fireVariant('graphile', 'postgres', 'each second', eachSecond),
    fireVariant('graphile', 'postgres', 'one instant', oneInstant),
    fireVariant('graphile', 'postgres', 'herd', herd),
    bullMqVariant('schedulers', 'each second', eachSecond),
    bullMqVariant('delayed', 'one instant', oneInstant),
    bullMqVariant('delayed', 'herd', herd),
  ],
  figures: [
    ...STORE_KINDS.flatMap((kind) => [
      ...lagFigures(`${STORE_LABELS[kind]}, each second`, `${kind} each second`, 10, 50),
      ...lagFigures(`${STORE_LABELS[kind]}, one instant`, `${kind} one instant`, 30, 100),
      ...herdFigures(STORE_LABELS[kind], `${kind} herd`, [{ atMost: 50 }]),
      {
        label: `${STORE_LABELS[kind]}, processor time with ${MANY_FUTURE} future schedules`,
        variant: `${kind} each second beside many`,
        measurement: 'cpuUs',
        unit: 'µs' as const,
        targets: [{ baselines: [`${kind} each second`], atMost: 1.2 }],
      },
    ]),
    ...lagFigures('graphile-worker, each second', 'graphile each second'),
    ...lagFigures('graphile-worker, one instant', 'graphile one instant'),
    ...herdFigures('graphile-worker', 'graphile herd'),
    ...lagFigures('BullMQ, each second', 'bullmq each second'),
    ...lagFigures('BullMQ, one instant', 'bullmq one instant'),
    ...herdFigures('BullMQ', 'bullmq herd'),
  ],
  details: [
    { label: 'processor µs/fire', measurement: 'cpuUs' },
    { label: 'submit p99, ms', measurement: 'submitP99' },
    { label: 'times left out, %', measurement: 'leftOut' },
  ],
  notes: [
    'Schedules have default settings: each allows one run at a time, has its own gate, and records every fire time. A job has a thousand schedules.',
    'During the measurement a client submits a run of another job, waits for the answer, and 10 ms later submits the next.',
    'graphile-worker has no schedules with seconds: every fire time is a delayed job, created beforehand. It polls every 10 ms (default 2,000), `concurrentJobs` 24.',
    `Variants without many future schedules have ${FEW_FUTURE} of them.`,
    `BullMQ's job schedulers create the jobs of each second (\`every: 1000\`); at one instant and in the herd they are delayed jobs, created beforehand; \`concurrency\` 100. It has no gates, no missed fire times and no record of a fire time besides the job: it silently skips a fire time that has passed when the previous job starts, and skipped times count for no figure here.`,
    `BullMQ's Redis runs with its usual settings, ${REDIS_SETTINGS}: a crash may lose the last second of acknowledged writes, which the other systems have synced. It keeps everything in memory.`,
  ],
}
