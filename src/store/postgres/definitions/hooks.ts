import type { JobStore } from '../../port.ts'
import type { Database } from '../database/database.ts'
import type { Queryable } from '../connection/statement.ts'
import { read } from '../connection/transaction.ts'

const DROP_HOOKS = { name: 'drop-hooks', text: `DELETE FROM hook WHERE job_id = $1::int` }
const ADD_HOOKS = {
  name: 'add-hooks',
  text: `
  INSERT INTO hook (project_id, job_id, name)
  SELECT DISTINCT $1::int, $2::int, name FROM unnest($3::text[]) AS name`,
}
/** Hooks of a deleted job are not removed: only jobs with a definition are listed. */
export const JOBS_OF_HOOK = {
  name: 'jobs-of-hook',
  text: `
  SELECT job.name, job.paused_at IS NOT NULL AS "isPaused"
    FROM hook JOIN job ON job.id = hook.job_id
   WHERE hook.project_id = $1::int AND hook.name = $2 AND job.version > 0
   ORDER BY hook.job_id`,
}

/** Replaces the hooks of a job. */
export async function setHooks(
  tx: Queryable,
  job: { projectId: number; jobId: number; hooks: readonly string[] },
): Promise<void> {
  await tx.query(DROP_HOOKS, [job.jobId])
  if (job.hooks.length === 0) return
  await tx.query(ADD_HOOKS, [job.projectId, job.jobId, job.hooks])
}

export async function jobsOfHook(
  db: Database,
  { projectId, name }: Parameters<JobStore['jobsOfHook']>[0],
): ReturnType<JobStore['jobsOfHook']> {
  return read(db.reading, JOBS_OF_HOOK, [projectId, name])
}
