import Sqlite from 'better-sqlite3'
import {
  hasRun,
  OCCURRENCE_OUTCOMES,
  OUTCOME_CODE,
} from '../../src/core/schedule/firing/occurrence.ts'
import { openScheduler, type Scheduler } from '../../src/main/scheduler.ts'
import { createWorker, type HandlerContext, type Worker } from '../../src/worker/index.ts'
import { queryOnce } from '../../test/support/postgres-query.ts'
import { seededJobNames, seedSchedules } from '../load/seed-schedules.ts'
import { type DueTimes, type TimedSystem, listDueTimes } from './timed-system.ts'

const DUE = 'due-'
const FUTURE = 'future-'
const OTHER = 'other'
const SLOTS = 10_000
const DRAIN_MS = 10_000
const FUTURE_CRON = '0 0 0 29 2 *'
const FUTURE_AT = Date.UTC(2028, 1, 29)

/** Schedules with default settings, a thousand per job; `futureSchedules` more are due only in the far future. */
export async function openTimedPunctual(
  store: string,
  futureSchedules: number,
): Promise<TimedSystem> {
  const onError = (error: unknown) => console.error(error)
  let scheduler: Scheduler | undefined
  let worker: Worker | undefined
  let planned = 0

  return {
    async plan({ count, firstAt, everyMs }) {
      planned = count
      const initial = await openScheduler({ store, onError })
      await initial.clientFor('default').submit([{ job: OTHER }])
      await initial.stop()
      await seedSchedules(store, {
        count: futureSchedules,
        cron: FUTURE_CRON,
        nextAt: FUTURE_AT,
        prefix: FUTURE,
      })
      const cron = `*/${everyMs / 1_000} * * * * *`
      await seedSchedules(store, { count, cron, nextAt: firstAt, prefix: DUE })
    },
    async start(handler) {
      scheduler = await openScheduler({ store, onError })
      const due = (_: unknown, { dueAt }: HandlerContext) => handler(dueAt)
      const handlers = seededJobNames(DUE, planned).map((job) => [job, due] as const)
      worker = createWorker({
        client: scheduler.clientFor('default'),
        name: 'bench',
        slots: SLOTS,
        handlers: { ...Object.fromEntries(handlers), [OTHER]: () => {} },
        onError,
      })
      await worker.start()
    },
    submitOther: () => scheduler!.clientFor('default').submit([{ job: OTHER }]),
    async close() {
      await worker?.drain(DRAIN_MS)
      await scheduler?.stop()
    },
    countFired: (instants) => countFired(store, instants),
  }
}

async function countFired(store: string, instants: DueTimes): Promise<number> {
  const codes = OCCURRENCE_OUTCOMES.filter(hasRun).map((outcome) => OUTCOME_CODE[outcome])
  const condition = `outcome IN (${codes.join()}) AND nominal_at IN (${listDueTimes(instants).join()})`
  if (store.startsWith('sqlite:')) {
    const db = new Sqlite(store.slice('sqlite:'.length), { readonly: true })
    const sql = `SELECT count(*) FROM occurrence WHERE ${condition}`
    const count = db.prepare(sql).pluck().get() as number
    db.close()
    return count
  }
  const sql = `SELECT count(*) AS n FROM punctual.occurrence WHERE ${condition}`
  const [row] = await queryOnce(store, sql)
  return Number(row!.n)
}
