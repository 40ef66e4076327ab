import { Queue, Worker } from 'bullmq'
import { type DueTimes, type TimedSystem, listDueTimes } from './timed-system.ts'

const QUEUE = 'due'
const OTHER = 'other'
const BATCH = 5_000
const CONCURRENCY = 100

/** `delayed`: every fire time is a delayed job, created beforehand. `schedulers`: job schedulers create one job at a time. */
export type BullMqPlan = 'delayed' | 'schedulers'

export async function openTimedBullMq(url: string, by: BullMqPlan): Promise<TimedSystem> {
  const { hostname: host, port } = new URL(url)
  const connection = { host, port: Number(port) }
  const queue = new Queue(QUEUE, { connection })
  let worker: Worker | undefined

  return {
    plan: (instants) => (by === 'delayed' ? delay(queue, instants) : schedule(queue, instants)),
    async start(handler) {
      const due = async (job: { name: string; id?: string }) => {
        if (job.name !== OTHER) handler(dueAtOf(job.id))
      }
      worker = new Worker(QUEUE, due, { connection, concurrency: CONCURRENCY })
      await worker.waitUntilReady()
    },
    submitOther: () => queue.add(OTHER, {}),
    close: async () => worker?.close(),
    async countFired(instants) {
      const times = new Set(listDueTimes(instants))
      const ended = await queue.getRanges(['completed'], 0, -1)
      await queue.close()
      return ended.filter((id) => times.has(dueAtOf(id))).length
    },
  }
}

async function delay(queue: Queue, instants: DueTimes): Promise<void> {
  for (const dueAt of listDueTimes(instants)) {
    for (let from = 0; from < instants.count; from += BATCH) {
      const size = Math.min(BATCH, instants.count - from)
      const now = Date.now()
      const jobs = Array.from({ length: size }, (_, index) => ({
        name: 'delayed',
        data: {},
        opts: { jobId: `${from + index}-${dueAt}`, timestamp: now, delay: dueAt - now },
      }))
      await queue.addBulk(jobs)
    }
  }
}

async function schedule(queue: Queue, { count, firstAt, everyMs }: DueTimes): Promise<void> {
  const rule = { every: everyMs, startDate: firstAt }
  const names = Array.from({ length: count }, (_, index) => `rule-${index}`)
  await Promise.all(
    names.map((name) => queue.upsertJobScheduler(name, rule, { name: 'scheduled', data: {} })),
  )
}

/** The ids of our delayed jobs end with the due time, like the ids that BullMQ's job schedulers generate. */
function dueAtOf(id = ''): number {
  return Number(/\d+$/.exec(id)?.[0])
}
