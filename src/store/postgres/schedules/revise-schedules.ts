import type { ScheduleRevision } from '../../port.ts'
import { stillHolds } from '../../schedule-revision.ts'
import { addAudit } from '../audit/audit.ts'
import {
  changeSchedule,
  createSchedule,
  lockSchedulesOf,
  type LockedSchedule,
  type OfJob,
  removeSchedule,
} from './schedules.ts'
import type { Work } from '../connection/statement.ts'

/**
 * Within a transaction that holds the job. False: the revision no longer holds, and nothing has changed.
 * Nothing here waits for an answer it does not need: a thousand schedules are a few round trips.
 */
export async function reviseSchedules(
  work: Work,
  now: number | null,
  job: OfJob,
  revision: ScheduleRevision,
): Promise<boolean> {
  const rows = await lockSchedulesOf(work, now, job.jobId)
  if (!stillHolds(revision, rows)) return false
  const byId = new Map(rows.map((row) => [row.id, row]))
  const removes = revision.removes.map(({ id, audit }) =>
    Promise.all([
      removeSchedule(work, byId.get(id) as LockedSchedule, audit.actor),
      addAudit(work, now, audit),
    ]),
  )
  const puts = revision.puts.map((put) => {
    const row = byId.get(put.id)
    return row ? changeSchedule(work, now, row, put) : createSchedule(work, now, { ...put, ...job })
  })
  await Promise.all([...removes, ...puts])
  return true
}
