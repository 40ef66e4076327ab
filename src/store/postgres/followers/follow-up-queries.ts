import { type FinalState, stateOfCode } from '../../../core/run/run-state.ts'
import type { FollowStore, FollowUp, FollowUpRecord } from '../../port.ts'
import { type Database, pickLists } from '../database/database.ts'
import { read } from '../connection/transaction.ts'

const COLUMNS = `
  source_run_id AS "sourceRunId", job_id AS "jobId", project_id AS "projectId",
  source_job_id AS "sourceJobId", state, at, settled_at AS "settledAt", run_id AS "runId", reason`
const OPEN = {
  name: 'open-follow-ups',
  text: `SELECT ${COLUMNS} FROM follow_up WHERE settled_at IS NULL ORDER BY at LIMIT $1::int`,
}
const FOLLOWED_BY = {
  name: 'followed-by',
  text: `SELECT ${COLUMNS} FROM follow_up WHERE run_id = $1::bigint`,
}
const AFTER = {
  name: 'follow-ups-after',
  text: `SELECT ${COLUMNS} FROM follow_up WHERE source_run_id = $1::bigint ORDER BY job_id`,
}
const OF_JOB = {
  name: 'follow-ups-of',
  text: `SELECT ${COLUMNS} FROM follow_up WHERE job_id = $1::int ORDER BY at DESC LIMIT $2::int`,
}
const FOLLOWERS_OF = {
  name: 'followers-of',
  text: `
  SELECT DISTINCT job.name COLLATE "C" AS name FROM job AS cause
    JOIN follower ON cause_id = cause.id JOIN job ON job.id = follower.job_id
   WHERE cause.project_id = $1::int AND cause.name = $2 ORDER BY 1`,
}

type Input<Name extends keyof FollowStore> = Parameters<FollowStore[Name]>[0]
type Row = Omit<FollowUpRecord, 'state'> & { readonly state: number }

export async function openFollowUps(
  db: Database,
  { limit }: Input<'openFollowUps'>,
): Promise<FollowUp[]> {
  return (await read<Row>(db.duty, OPEN, [limit])).map(toFollowUp)
}

export async function followedBy(
  db: Database,
  { runId }: Input<'followedBy'>,
): Promise<FollowUpRecord | null> {
  const [row] = await read<Row>(db.reading, FOLLOWED_BY, [runId])
  return row ? toFollowUp(row) : null
}

export async function followUpsAfter(
  db: Database,
  { runId }: Input<'followUpsAfter'>,
): Promise<FollowUpRecord[]> {
  return (await read<Row>(db.reading, AFTER, [runId])).map(toFollowUp)
}

export async function followUpsOf(
  db: Database,
  { jobId, limit }: Input<'followUpsOf'>,
): Promise<FollowUpRecord[]> {
  return (await read<Row>(pickLists(db), OF_JOB, [jobId, limit])).map(toFollowUp)
}

export async function followersOf(
  db: Database,
  { projectId, name }: Input<'followersOf'>,
): Promise<string[]> {
  const rows = await read<{ name: string }>(db.reading, FOLLOWERS_OF, [projectId, name])
  return rows.map((row) => row.name)
}

function toFollowUp(row: Row): FollowUpRecord {
  return { ...row, state: stateOfCode(row.state) as FinalState }
}
