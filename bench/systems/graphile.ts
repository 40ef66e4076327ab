import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import pg from 'pg'
import { queryOnce } from '../../test/support/postgres-query.ts'
import type { Purpose, System } from './system.ts'

const TASK = 'noop'
const JOBS = 'graphile_worker._private_jobs'

/** The fastest settings we found on two cores; see the notes under the tables. */
const BATCHED = {
  concurrentJobs: 24,
  maxPoolSize: 10,
  localQueue: { size: 500 },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
}
/** Settings for latency: without batching, which trades latency for rate. */
const UNBATCHED = { concurrentJobs: 8, maxPoolSize: 10 }
/** One connection per caller, so that no caller waits for the pool. */
const SINGLE = { ...BATCHED, maxPoolSize: 20 }

const SETTINGS_BY_PURPOSE = { throughput: BATCHED, single: SINGLE, latency: UNBATCHED }

export async function openGraphile(store: string, purpose: Purpose): Promise<System> {
  const logger = new Logger(() => () => {})
  const preset = { worker: { connectionString: store, logger, ...SETTINGS_BY_PURPOSE[purpose] } }
  const utils = await makeWorkerUtils({ preset })
  await utils.migrate()
  const watcher = new pg.Client({ connectionString: store })
  await watcher.connect()
  let stopWorker = async () => {}

  return {
    async work(handler) {
      const taskList = { [TASK]: handler }
      const runner = await run({ preset, taskList, noHandleSignals: true })
      stopWorker = () => runner.stop()
    },
    submitMany: (count) =>
      utils.addJobs(Array.from({ length: count }, () => ({ identifier: TASK, payload: {} }))),
    submitOne: () => utils.addJob(TASK, {}),
    // graphile-worker deletes finished jobs in batches after their handlers, so poll the table.
    async settled() {
      while ((await watcher.query(`SELECT 1 FROM ${JOBS} LIMIT 1`)).rows.length > 0);
    },
    async close() {
      await stopWorker()
      await utils.release()
      await watcher.end()
    },
    async countEnded() {
      return (
        (await countInserted(store)) -
        (await readNumber(store, `SELECT count(*) AS n FROM ${JOBS}`))
      )
    },
    countSubmitted: () => countInserted(store),
  }
}

/** Counts all jobs ever inserted by the identity sequence, because finished jobs are deleted. */
async function countInserted(store: string): Promise<number> {
  const [row] = await queryOnce(store, `SELECT pg_get_serial_sequence('${JOBS}', 'id') AS name`)
  return readNumber(store, `SELECT last_value AS n FROM ${String(row!.name)}`)
}

async function readNumber(store: string, sql: string): Promise<number> {
  const [row] = await queryOnce(store, sql)
  return Number(row!.n)
}
