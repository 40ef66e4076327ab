import type { JobStore, NumberedJob } from '../../port.ts'
import type { Database } from '../database/database.ts'
import { JOB_COLUMNS, type JobRow, toJobRecord } from './definitions.ts'
import { read } from '../connection/transaction.ts'

type Input<Name extends keyof JobStore> = Parameters<JobStore[Name]>[0]

/** For callers that know jobs by number: with the project, and the time of the first definition. */
const NUMBERED = `
  SELECT ${JOB_COLUMNS}, job.project_id AS "projectId",
         (SELECT created_at FROM job_version
           WHERE job_id = job.id ORDER BY version LIMIT 1) AS since
    FROM job JOIN job_version v ON v.job_id = job.id AND v.version = job.version`
const FIND_NUMBERED = {
  name: 'find-numbered-job',
  text: `${NUMBERED} WHERE job.id = $1::int AND job.version > 0`,
}
const NUMBERED_BELOW = {
  name: 'numbered-jobs',
  text: `${NUMBERED}
   WHERE job.project_id = $1::int AND job.version > 0 AND job.id < $2::bigint
   ORDER BY job.id DESC LIMIT $3::int`,
}
const OWNED_BELOW = {
  name: 'owned-jobs',
  text: `${NUMBERED}
   WHERE job.owner = $1 AND job.version > 0 AND job.id < $2::bigint
     AND ($3::int IS NULL OR job.project_id = $3::int)
   ORDER BY job.id DESC LIMIT $4::int`,
}

type NumberedRow = JobRow & Pick<NumberedJob, 'projectId' | 'since'>

export async function findNumberedJob(
  db: Database,
  { id }: Input<'findNumberedJob'>,
): Promise<NumberedJob | null> {
  const [row] = await read<NumberedRow>(db.reading, FIND_NUMBERED, [id])
  return row ? toJobRecord(row) : null
}

export async function listNumberedJobs(
  db: Database,
  { projectId, before, limit }: Input<'listNumberedJobs'>,
): Promise<NumberedJob[]> {
  const rows = await read<NumberedRow>(db.reading, NUMBERED_BELOW, [projectId, before, limit])
  return rows.map(toJobRecord)
}

export async function listOwnedJobs(
  db: Database,
  { owner, projectId, before, limit }: Input<'listOwnedJobs'>,
): Promise<NumberedJob[]> {
  const values = [owner, before, projectId, limit]
  return (await read<NumberedRow>(db.reading, OWNED_BELOW, values)).map(toJobRecord)
}
