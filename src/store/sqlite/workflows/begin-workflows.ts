import type { Database } from 'better-sqlite3'
import type { WorkflowRecord, WorkflowStore } from '../../port.ts'
import { FIND_WORKFLOW, type WorkflowRow, toWorkflow } from './workflow-queries.ts'

/** By then the node that began the workflow has advanced it, or is dead. */
export const FIRST_CHECK_MS = 1_000

export const READY_TO_BEGIN = `
  SELECT id AS runId, job_id AS jobId, retry_of AS retryOf FROM run
   WHERE status = 0 AND lane_id = ? ORDER BY rank, pos LIMIT ?`
/** No node, session or fence: a running workflow has no lease. */
export const BEGIN_RUN = `
  UPDATE run SET status = 1, started_at = ?, node = NULL, session = NULL, fence = NULL WHERE id = ?`
export const BEGIN_WORKFLOW = `
  INSERT INTO flow (run_id, job_id, wave, revision, node, began_at, look_at)
  VALUES (?, ?, ?, 0, ?, ?, ?)`
export const WAVE_OF = `SELECT wave FROM flow WHERE run_id = ? AND job_id = ?`
export const NEXT_WAVE = `
  INSERT INTO wave (job_id, last) VALUES (?, 1) ON CONFLICT (job_id) DO UPDATE SET last = last + 1
  RETURNING last`

interface Ready {
  readonly runId: number
  readonly jobId: number
  readonly retryOf: number | null
}

export type BeginWorkflows = (
  input: Parameters<WorkflowStore['beginWorkflows']>[0],
  now: number,
) => WorkflowRecord[]

export function prepareBeginWorkflows(db: Database): BeginWorkflows {
  const readyIn = db.prepare<[number, number], Ready>(READY_TO_BEGIN)
  const beginRun = db.prepare(BEGIN_RUN)
  const beginWorkflow = db.prepare(BEGIN_WORKFLOW)
  const waveOf = db.prepare<[number, number], number>(WAVE_OF).pluck()
  const nextWave = db.prepare<[number], number>(NEXT_WAVE).pluck()
  const find = db.prepare<[number], WorkflowRow>(FIND_WORKFLOW)

  const begin = ({ runId, jobId, retryOf }: Ready, node: number, now: number): WorkflowRecord => {
    const repeated = retryOf === null ? undefined : waveOf.get(retryOf, jobId)
    const wave = repeated ?? nextWave.get(jobId)
    beginRun.run(now, runId)
    beginWorkflow.run(runId, jobId, wave, node, now, now + FIRST_CHECK_MS)
    return toWorkflow(find.get(runId) as WorkflowRow)
  }

  return ({ node, lanes, limit }, now) => {
    const begun: WorkflowRecord[] = []
    for (const lane of lanes) {
      for (const run of readyIn.all(lane, limit - begun.length)) begun.push(begin(run, node, now))
    }
    return begun
  }
}
