import Sqlite from 'better-sqlite3'
import { hasRun, OUTCOMES, OUTCOME_CODE } from '../../src/core/schedule/firing/occurrence.ts'
import { openScheduler, type Scheduler } from '../../src/main/scheduler.ts'
import { createWorker, type HandlerContext, type Worker } from '../../src/worker/index.ts'
import { queryOnce } from '../../test/support/postgres-query.ts'
import { jobsOf, plantSchedules } from '../load/seed-schedules.ts'
import { type Instants, type TimedSystem, timesOf } from './timed-system.ts'

const DUE = 'due-'
const LATER = 'later-'
const OTHER = 'other'
const SLOTS = 10_000
const DRAIN_MS = 10_000
const ONCE_A_YEAR = '0 0 0 29 2 *'
const FAR_AT = Date.UTC(2028, 1, 29)

/** Schedules of the ordinary kind, a thousand to a job; `later` more of them are not due for long. */
export async function openTimedPunctual(store: string, later: number): Promise<TimedSystem> {
  const onError = (error: unknown) => console.error(error)
  let scheduler: Scheduler | undefined
  let worker: Worker | undefined
  let planned = 0

  return {
    async plan({ count, firstAt, everyMs }) {
      planned = count
      const empty = await openScheduler({ store, onError })
      await empty.clientFor('default').submit([{ job: OTHER }])
      await empty.stop()
      await plantSchedules(store, {
        count: later,
        cron: ONCE_A_YEAR,
        nextAt: FAR_AT,
        prefix: LATER,
      })
      const cron = `*/${everyMs / 1_000} * * * * *`
      await plantSchedules(store, { count, cron, nextAt: firstAt, prefix: DUE })
    },
    async start(handler) {
      scheduler = await openScheduler({ store, onError })
      const due = (_: unknown, { dueAt }: HandlerContext) => handler(dueAt)
      const handlers = jobsOf(DUE, planned).map((job) => [job, due] as const)
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

async function countFired(store: string, instants: Instants): Promise<number> {
  const codes = OUTCOMES.filter(hasRun).map((outcome) => OUTCOME_CODE[outcome])
  const condition = `outcome IN (${codes.join()}) AND nominal_at IN (${timesOf(instants).join()})`
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
