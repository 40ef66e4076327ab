import { REDIS_DURABILITY } from '../harness/redis-server.ts'
import type { Figure, Scenario, Target, Variant } from '../harness/scenario.ts'
import type { FireSettings } from '../variants/fire.ts'
import { freshStore } from './stores.ts'

const KINDS = ['sqlite', 'postgres'] as const
const CALLED = { sqlite: 'Punctual, SQLite', postgres: 'Punctual, PostgreSQL' } as const
const EACH_SECOND = 1_000
const INSTANT = 5_000
const HERD = 60_000
const FEW = 1_000
const MANY = 1_000_000

const REDIS_SETTINGS = Object.entries(REDIS_DURABILITY)
  .map((pair) => `\`${pair.join(' ')}\``)
  .join(', ')

type Load = Pick<FireSettings, 'count' | 'everyMs' | 'warmUp' | 'times'>
type Seconds = (seconds: number, quick: boolean) => Load

const eachSecond: Seconds = (seconds) => ({
  ...{ count: EACH_SECOND, everyMs: 1_000, warmUp: 5, times: seconds },
})
const oneInstant: Seconds = (_, quick) => ({
  ...{ count: quick ? 500 : INSTANT, everyMs: 5_000, warmUp: 2, times: quick ? 1 : 3 },
})
const herd: Seconds = (_, quick) => ({
  ...{ count: quick ? 2_000 : HERD, everyMs: 30_000, warmUp: 0, times: 1 },
})

function fires(
  system: 'punctual' | 'graphile',
  kind: (typeof KINDS)[number],
  what: string,
  load: Seconds,
  later = FEW,
): Variant {
  return {
    name: `${system === 'graphile' ? system : kind} ${what}`,
    script: 'fire.ts',
    deadlineMs: 600_000,
    arrange: async (bench, { seconds, quick }) => ({
      ...{ system, store: await freshStore(bench, kind), later: quick ? FEW : later },
      ...(kind === 'postgres' && { serverPid: bench.postgres?.pid }),
      ...load(seconds, quick),
    }),
  }
}

function bullMq(by: 'delayed' | 'schedulers', what: string, load: Seconds): Variant {
  return {
    name: `bullmq ${what}`,
    script: 'fire.ts',
    tool: 'redis-server',
    deadlineMs: 600_000,
    arrange: async (bench, { seconds, quick }) => {
      const { url: store, pid: serverPid } = await bench.redis()
      return { system: `bullmq ${by}`, store, serverPid, later: 0, ...load(seconds, quick) }
    },
  }
}

function lags(label: string, variant: string, p50?: number, p99?: number): Figure[] {
  const figure = (measurement: string, atMost?: number): Figure => ({
    label: `${label}, ${measurement}`,
    ...{ variant, measurement, unit: 'ms' },
    targets: atMost === undefined ? [] : [{ atMost }],
  })
  return [figure('p50', p50), figure('p99', p99)]
}

function ofHerd(label: string, variant: string, targets: Target[] = []): Figure[] {
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

export const fire: Scenario = {
  name: 'fire',
  about:
    `From the instant a schedule names to the first line of the handler: ${EACH_SECOND} schedules every ` +
    `second, ${INSTANT} at one instant, and a herd of ${HERD}; in-process.`,
  needsPostgres: true,
  needsPeers: true,
  variants: [
    ...KINDS.flatMap((kind) => [
      fires('punctual', kind, 'each second', eachSecond),
      fires('punctual', kind, 'each second beside many', eachSecond, MANY),
      fires('punctual', kind, 'one instant', oneInstant),
      fires('punctual', kind, 'herd', herd),
    ]),
    fires('graphile', 'postgres', 'each second', eachSecond),
    fires('graphile', 'postgres', 'one instant', oneInstant),
    fires('graphile', 'postgres', 'herd', herd),
    bullMq('schedulers', 'each second', eachSecond),
    bullMq('delayed', 'one instant', oneInstant),
    bullMq('delayed', 'herd', herd),
  ],
  figures: [
    ...KINDS.flatMap((kind) => [
      ...lags(`${CALLED[kind]}, each second`, `${kind} each second`, 10, 50),
      ...lags(`${CALLED[kind]}, one instant`, `${kind} one instant`, 30, 100),
      ...ofHerd(CALLED[kind], `${kind} herd`, [{ atMost: 50 }]),
      {
        label: `${CALLED[kind]}, processor time beside ${MANY} future schedules`,
        ...{
          variant: `${kind} each second beside many`,
          measurement: 'cpuUs',
          unit: 'µs' as const,
        },
        targets: [{ rivals: [`${kind} each second`], atMost: 1.2 }],
      },
    ]),
    ...lags('graphile-worker, each second', 'graphile each second'),
    ...lags('graphile-worker, one instant', 'graphile one instant'),
    ...ofHerd('graphile-worker', 'graphile herd'),
    ...lags('BullMQ, each second', 'bullmq each second'),
    ...lags('BullMQ, one instant', 'bullmq one instant'),
    ...ofHerd('BullMQ', 'bullmq herd'),
  ],
  details: [
    { label: 'processor µs/fire', measurement: 'cpuUs' },
    { label: 'submit p99, ms', measurement: 'submitP99' },
    { label: 'times left out, %', measurement: 'leftOut' },
  ],
  notes: [
    'Schedules are as usual: one run at a time each, with a gate of its own, and every time has a record. A thousand belong to a job.',
    'All the while somebody submits a run of another job, waits for the answer, and 10 ms later submits the next.',
    'graphile-worker has no schedules of seconds: every time is a delayed job, made beforehand, and it polls every 10 ms (2,000 if it is told nothing), `concurrentJobs` 24.',
    `Without future schedules there are ${FEW} of them.`,
    `BullMQ's job schedulers make each second's jobs (\`every: 1000\`); at one instant and in the herd they are delayed jobs, made beforehand; \`concurrency\` 100. It has no gates, no missed times and no record of a time beyond the job itself: a time that has passed when the one before is taken up is left out, without a word, and counts for no figure here.`,
    `BullMQ's Redis runs as on most days, ${REDIS_SETTINGS}: what it acknowledges may be lost in a crash for a second, where the others have synced it. It keeps everything in memory.`,
  ],
}
