import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import pg from 'pg'
import { queryOnce } from '../../test/support/postgres-query.ts'
import type { Purpose, System } from './system.ts'

const TASK = 'noop'
const JOBS = 'graphile_worker._private_jobs'

/** What we found best on two cores; see the notes under the tables. */
const BATCHED = {
  concurrentJobs: 24,
  maxPoolSize: 10,
  localQueue: { size: 500 },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
}
/** Batching trades latency for rate, so whoever measures latency leaves it out. */
const PROMPT = { concurrentJobs: 8, maxPoolSize: 10 }
/** One connection per caller: waiting for a pool is not what is measured. */
const SINGLE = { ...BATCHED, maxPoolSize: 20 }

const TUNED = { throughput: BATCHED, single: SINGLE, latency: PROMPT }

export async function openGraphile(store: string, purpose: Purpose): Promise<System> {
  const logger = new Logger(() => () => {})
  const preset = { worker: { connectionString: store, logger, ...TUNED[purpose] } }
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
    // A finished job is a deleted row. The batched delete comes after the handler, so ask the table.
    async settled() {
      while ((await watcher.query(`SELECT 1 FROM ${JOBS} LIMIT 1`)).rows.length > 0);
    },
    async close() {
      await stopWorker()
      await utils.release()
      await watcher.end()
    },
    async countEnded() {
      return (await seen(store)) - (await readNumber(store, `SELECT count(*) AS n FROM ${JOBS}`))
    },
    countSubmitted: () => seen(store),
  }
}

/** Rows that are gone cannot be counted; their identity column remembers how many there were. */
async function seen(store: string): Promise<number> {
  const [row] = await queryOnce(store, `SELECT pg_get_serial_sequence('${JOBS}', 'id') AS name`)
  return readNumber(store, `SELECT last_value AS n FROM ${String(row!.name)}`)
}

async function readNumber(store: string, sql: string): Promise<number> {
  const [row] = await queryOnce(store, sql)
  return Number(row!.n)
}
