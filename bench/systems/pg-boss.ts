import { setTimeout as pause } from 'node:timers/promises'
import { PgBoss } from 'pg-boss'
import { queryOnce } from '../../test/support/postgres-query.ts'
import type { Purpose, System } from './system.ts'

const QUEUE = 'noop'
const BATCH = 2_000
const FETCHERS = 2
const EMPTY_PAUSE_MS = 2

export async function openPgBoss(store: string, purpose: Purpose): Promise<System> {
  // NOTIFY wakes an idle worker but slows every commit; only the latency workload benefits from it.
  const notify = purpose === 'latency'
  const boss = new PgBoss({
    connectionString: store,
    max: 20,
    useListenNotify: notify,
    supervise: false,
    schedule: false,
  })
  boss.on('error', (error) => console.error(error))
  await boss.start()
  await boss.createQueue(QUEUE, { notify })
  let handled = 0
  let completed = 0
  let stopping = false
  const fetchers: Promise<void>[] = []

  /** Replaces pg-boss's `work`, which sleeps half a second after a short batch. */
  async function fetchAndComplete(handler: () => void): Promise<void> {
    while (!stopping) {
      const jobs = await boss.fetch(QUEUE, { batchSize: BATCH })
      if (jobs.length === 0) {
        await pause(EMPTY_PAUSE_MS)
        continue
      }
      for (let i = 0; i < jobs.length; i++) await callHandler(handler)
      await boss.complete(
        QUEUE,
        Array.from(jobs, ({ id }) => id),
      )
      completed += jobs.length
    }
  }

  // One awaited call per run, as for a real handler.
  async function callHandler(handler: () => void): Promise<void> {
    handled += 1
    handler()
  }

  return {
    async work(handler) {
      if (purpose === 'latency') {
        const options = { batchSize: 1, pollingIntervalSeconds: 0.5 }
        await boss.work(QUEUE, options, async () => handler())
      } else {
        for (let i = 0; i < FETCHERS; i++) fetchers.push(fetchAndComplete(handler))
      }
    },
    submitMany: (count) =>
      boss.insert(
        QUEUE,
        Array.from({ length: count }, () => ({ data: {} })),
      ),
    submitOne: () => boss.send(QUEUE, {}),
    async settled() {
      while (completed < handled) await pause(1)
    },
    async close() {
      stopping = true
      await Promise.all(fetchers)
      await boss.stop({ graceful: true })
    },
    countEnded: () => countJobs(store, `state = 'completed'`),
    countSubmitted: () => countJobs(store, 'true'),
  }
}

async function countJobs(store: string, condition: string): Promise<number> {
  const [row] = await queryOnce(
    store,
    `SELECT count(*) AS n FROM pgboss.job WHERE name = '${QUEUE}' AND ${condition}`,
  )
  return Number(row!.n)
}
