import type { Database } from 'better-sqlite3'
import type { JobStore, NumberedJob } from '../../port.ts'
import { type JobRow, selectJob, toJobRecord } from './definitions.ts'
import type { Sync } from '../connection/sync.ts'

/** For callers that know jobs by number: with the project, and the time of the first definition. */
const NUMBERED = selectJob(`, job.project_id AS projectId,
         (SELECT first.created_at FROM job_version first
           WHERE first.job_id = job.id ORDER BY first.version LIMIT 1) AS since`)
export const FIND_NUMBERED = `${NUMBERED} WHERE job.id = ? AND job.version > 0`
export const NUMBERED_BELOW = `${NUMBERED}
   WHERE job.project_id = ? AND job.version > 0 AND job.id < ? ORDER BY job.id DESC LIMIT ?`
export const OWNED_BELOW = `${NUMBERED}
   WHERE job.owner = :owner AND job.version > 0 AND job.id < :before
     AND (:projectId IS NULL OR job.project_id = :projectId)
   ORDER BY job.id DESC LIMIT :limit`

type NumberedRow = JobRow & Pick<NumberedJob, 'projectId' | 'since'>
type Queries = Pick<JobStore, 'findNumberedJob' | 'listNumberedJobs' | 'listOwnedJobs'>

export function prepareNumberedJobs(db: Database): Sync<Queries> {
  const find = db.prepare<[number], NumberedRow>(FIND_NUMBERED)
  const below = db.prepare<[number, number, number], NumberedRow>(NUMBERED_BELOW)
  const owned = db.prepare<[object], NumberedRow>(OWNED_BELOW)

  return {
    findNumberedJob({ id }) {
      const row = find.get(id)
      return row ? toJobRecord(row) : null
    },
    listNumberedJobs: ({ projectId, before, limit }) =>
      below.all(projectId, before, limit).map(toJobRecord),
    listOwnedJobs: (input) => owned.all(input).map(toJobRecord),
  }
}
