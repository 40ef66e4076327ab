import type { Database } from 'better-sqlite3'
import { type FinalState, stateOfCode } from '../../../core/run/run-state.ts'
import type { FollowStore, FollowUpRecord } from '../../port.ts'
import type { Sync } from '../connection/sync.ts'

const COLUMNS = `
  source_run_id AS sourceRunId, job_id AS jobId, project_id AS projectId,
  source_job_id AS sourceJobId, state, at, settled_at AS settledAt, run_id AS runId, reason`
export const OPEN_FOLLOW_UPS = `
  SELECT ${COLUMNS} FROM follow_up WHERE settled_at IS NULL ORDER BY at LIMIT ?`
export const FOLLOWED_BY = `SELECT ${COLUMNS} FROM follow_up WHERE run_id = ?`
export const FOLLOW_UPS_AFTER = `
  SELECT ${COLUMNS} FROM follow_up WHERE source_run_id = ? ORDER BY job_id`
export const FOLLOW_UPS_OF = `
  SELECT ${COLUMNS} FROM follow_up WHERE job_id = ? ORDER BY at DESC LIMIT ?`
export const FOLLOWERS_OF = `
  SELECT job.name FROM job AS cause
    JOIN follower ON cause_id = cause.id JOIN job ON job.id = follower.job_id
   WHERE cause.project_id = ? AND cause.name = ?`

type Queries = Pick<
  FollowStore,
  'openFollowUps' | 'followedBy' | 'followUpsAfter' | 'followUpsOf' | 'followersOf'
>
type Row = Omit<FollowUpRecord, 'state'> & { readonly state: number }

export function prepareFollowQueries(db: Database): Sync<Queries> {
  const open = db.prepare<[number], Row>(OPEN_FOLLOW_UPS)
  const by = db.prepare<[number], Row>(FOLLOWED_BY)
  const after = db.prepare<[number], Row>(FOLLOW_UPS_AFTER)
  const ofJob = db.prepare<[number, number], Row>(FOLLOW_UPS_OF)
  const followers = db.prepare<[number, string], string>(FOLLOWERS_OF).pluck()
  return {
    openFollowUps: ({ limit }) => open.all(limit).map(toFollowUp),
    followedBy({ runId }) {
      const row = by.get(runId)
      return row ? toFollowUp(row) : null
    },
    followUpsAfter: ({ runId }) => after.all(runId).map(toFollowUp),
    followUpsOf: ({ jobId, limit }) => ofJob.all(jobId, limit).map(toFollowUp),
    // A job may follow several steps of another.
    followersOf: ({ projectId, name }) => [...new Set(followers.all(projectId, name))].sort(),
  }
}

function toFollowUp(row: Row): FollowUpRecord {
  return { ...row, state: stateOfCode(row.state) as FinalState }
}
