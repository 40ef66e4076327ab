import type { ScheduleRevision } from '../../port.ts'
import { isRevisionCurrent } from '../../schedule-revision.ts'
import { addAudit } from '../audit/audit.ts'
import {
  changeSchedule,
  createSchedule,
  lockSchedulesOf,
  type LockedSchedule,
  type OfJob,
  removeSchedule,
} from './schedules.ts'
import type { Queryable } from '../connection/statement.ts'

/**
 * Runs in a transaction that holds the job's lock. False: the revision no longer holds, and nothing
 * has changed. Does not wait for answers it does not need: a thousand schedules take a few round
 * trips.
 */
export async function reviseSchedules(
  tx: Queryable,
  now: number | null,
  job: OfJob,
  revision: ScheduleRevision,
): Promise<boolean> {
  const rows = await lockSchedulesOf(tx, now, job.jobId)
  if (!isRevisionCurrent(revision, rows)) return false
  const byId = new Map(rows.map((row) => [row.id, row]))
  const removes = revision.removes.map(({ id, audit }) =>
    Promise.all([
      removeSchedule(tx, byId.get(id) as LockedSchedule, audit.actor),
      addAudit(tx, now, audit),
    ]),
  )
  const puts = revision.puts.map((put) => {
    const row = byId.get(put.id)
    return row ? changeSchedule(tx, now, row, put) : createSchedule(tx, now, { ...put, ...job })
  })
  await Promise.all([...removes, ...puts])
  return true
}
