import type { Database } from 'better-sqlite3'
import type { JobStore } from '../../port.ts'
import type { Sync } from '../connection/sync.ts'

export const DROP_HOOKS = `DELETE FROM hook WHERE job_id = ?`
const ADD_HOOK = `INSERT OR IGNORE INTO hook (project_id, name, job_id) VALUES (?, ?, ?)`
/** Hooks of a deleted job are not removed: only jobs with a definition are listed. */
export const JOBS_OF_HOOK = `
  SELECT job.name, job.paused_at IS NOT NULL AS isPaused FROM hook JOIN job ON job.id = hook.job_id
   WHERE hook.project_id = ? AND hook.name = ? AND job.version > 0 ORDER BY hook.job_id`

/** Replaces the hooks of a job. */
export type SetHooks = (job: {
  readonly projectId: number
  readonly jobId: number
  readonly hooks: readonly string[]
}) => void

export function prepareSetHooks(db: Database): SetHooks {
  const drop = db.prepare(DROP_HOOKS)
  const add = db.prepare(ADD_HOOK)
  return ({ projectId, jobId, hooks }) => {
    drop.run(jobId)
    for (const name of hooks) add.run(projectId, name, jobId)
  }
}

export function prepareHookQueries(db: Database): Sync<Pick<JobStore, 'jobsOfHook'>> {
  const ofHook = db.prepare<[number, string], { name: string; isPaused: number }>(JOBS_OF_HOOK)
  return {
    jobsOfHook: ({ projectId, name }) =>
      ofHook.all(projectId, name).map((job) => ({ ...job, isPaused: job.isPaused === 1 })),
  }
}
