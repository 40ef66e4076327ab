import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import { queryOnce } from '../../test/support/postgres-query.ts'
import { type DueTimes, type TimedSystem, listDueTimes } from './timed-system.ts'

const TASK = 'due'
const OTHER = 'other'
const BATCH = 5_000
/** graphile-worker finds delayed jobs by polling, by default every two seconds. */
const PRESET = { concurrentJobs: 24, maxPoolSize: 12, pollInterval: 10 }

/** Every fire time is a delayed job, created beforehand. */
export async function openTimedGraphile(store: string): Promise<TimedSystem> {
  const logger = new Logger(() => () => {})
  const preset = { worker: { connectionString: store, logger, ...PRESET } }
  const utils = await makeWorkerUtils({ preset })
  await utils.migrate()
  let stopWorker = async () => {}
  let planned = 0
  const handled = new Map<number, number>()

  return {
    async plan(instants) {
      planned = instants.count * instants.times
      for (const dueAt of listDueTimes(instants)) {
        for (let left = instants.count; left > 0; left -= BATCH) {
          const job = { identifier: TASK, payload: { dueAt }, runAt: new Date(dueAt) }
          await utils.addJobs(Array.from({ length: Math.min(BATCH, left) }, () => job))
        }
      }
      await queryOnce(store, 'VACUUM ANALYZE graphile_worker._private_jobs')
    },
    async start(handler) {
      const due = (payload: unknown) => {
        const { dueAt } = payload as { dueAt: number }
        handled.set(dueAt, (handled.get(dueAt) ?? 0) + 1)
        handler(dueAt)
      }
      const taskList = { [TASK]: due, [OTHER]: () => {} }
      const runner = await run({ preset, taskList, noHandleSignals: true })
      stopWorker = () => runner.stop()
    },
    submitOther: () => utils.addJob(OTHER, {}),
    async close() {
      await stopWorker()
      await utils.release()
    },
    // graphile-worker deletes finished jobs, so handled and remaining jobs must add up to the planned ones.
    async countFired(instants: DueTimes) {
      const sql = `SELECT count(*) AS n FROM graphile_worker.jobs WHERE task_identifier = '${TASK}'`
      const [row] = await queryOnce(store, sql)
      const sum = (counts: Iterable<number>) => [...counts].reduce((a, b) => a + b, 0)
      if (sum(handled.values()) + Number(row!.n) !== planned) return -1
      return sum(listDueTimes(instants).map((dueAt) => handled.get(dueAt) ?? 0))
    },
  }
}
