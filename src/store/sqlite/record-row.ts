import { type Cause, STATE_CODE, stateOfCode } from '../../core/run/run-state.ts'
import type { RunRecord } from '../port.ts'
import { parseGates } from './tick-state/tick-state.ts'

/** While a run is under way, its worker is known by the session that holds it. */
const WORKER = `
  CASE WHEN status = 1 THEN (SELECT name FROM session WHERE session.id = run.session)
       ELSE worker END AS worker`
export const RECORD_COLUMNS = `
  id, project_id AS projectId, job_id AS jobId, lane_id AS laneId, rank, status, cancelling,
  attempt, fence, lost, cause, message, ${WORKER}, created_at AS createdAt, due_at AS dueAt,
  started_at AS startedAt, finished_at AS finishedAt, timeout_ms AS timeoutMs, policy,
  version, created_by AS createdBy, work, input, result, process, tags, gates, retry_of AS retryOf`

export interface RecordRow extends Omit<RunRecord, 'state' | 'cancelling' | 'cause' | 'gates'> {
  readonly status: number
  readonly cancelling: number
  readonly cause: string | null
  readonly gates: string | null
}

export function toRecord({ status, ...row }: RecordRow): RunRecord {
  return {
    ...row,
    state: stateOfCode(status),
    cancelling: row.cancelling === 1 && status === STATE_CODE.running,
    cause: row.cause as Cause | null,
    gates: parseGates(row.gates),
  }
}
