import type { Database } from 'better-sqlite3'
import { fenceOf } from '../../../core/run/fence.ts'
import type { ClaimDemand, Lease } from '../../port.ts'
import { prepareBulk } from '../connection/bulk.ts'
import { parseGateIds, type TickState } from '../tick-state/tick-state.ts'

const COLUMNS = `
  id AS runId, project_id AS projectId, job_id AS jobId, rank, pos, attempt, lost,
  claim_no AS claimNo, created_at AS createdAt, due_at AS dueAt, timeout_ms AS timeoutMs,
  policy, version, work, input, session AS avoid, gates,
  dedupe_key IS NOT NULL AS keyed`
export const READY_FROM_START = `
  SELECT ${COLUMNS} FROM run WHERE status = 0 AND lane_id = ? ORDER BY rank, pos LIMIT ?`
export const READY_AFTER = `
  SELECT ${COLUMNS} FROM run WHERE status = 0 AND lane_id = ? AND (rank, pos) > (?, ?)
   ORDER BY rank, pos LIMIT ?`
export const lease = (rows: string) => `
  UPDATE run SET status = 1, node = ?, started_at = ?,
         claim_no = column2, fence = column3, session = column4 FROM (${rows})
   WHERE id = column1 AND status = 0`

type ClaimFields = 'fence' | 'node' | 'session' | 'laneId' | 'cancelling' | 'startedAt'
interface ReadyRow extends Omit<Lease, ClaimFields> {
  readonly claimNo: number
  readonly gates: string | null
  readonly keyed: number
  /** The session that failed or lost the previous attempt. */
  readonly avoid: number | null
}

/** `isAlone`: no two demands of the tick are for one lane. */
export type Claim = (demand: ClaimDemand, tick: TickState, isAlone: boolean) => Lease[]

export function prepareClaim(db: Database): Claim {
  const fromStart = db.prepare<[number, number], ReadyRow>(READY_FROM_START)
  const after = db.prepare<[number, number, number, number], ReadyRow>(READY_AFTER)
  const leaseAll = prepareBulk(db, 4, lease)

  return ({ laneId, sessions, salts, floor }, { now, node, gatedRuns }, isAlone) => {
    const limit = sessions.length
    const rows = floor
      ? after.all(laneId, floor.rank, floor.pos, limit)
      : fromStart.all(laneId, limit)
    const last = sessions.at(-1)
    let [front, back] = [0, limit - 1]
    const taken: number[] = []
    const leases = rows.map((row) => {
      const claimNo = row.claimNo + 1
      // Prefer a different session than the one the previous attempt failed on: take one from the
      // other end.
      const avoidsLast = isAlone && row.avoid !== null && row.avoid !== last
      const slot = avoidsLast ? back-- : front++
      const session = sessions[slot] as number
      const fence = fenceOf(claimNo, salts[slot] as number)
      if (row.keyed === 1) gatedRuns.set(row.runId, null)
      else if (row.gates !== null) gatedRuns.set(row.runId, parseGateIds(row.gates))
      taken.push(row.runId, claimNo, fence, session)
      return {
        runId: row.runId,
        fence,
        node,
        session,
        projectId: row.projectId,
        jobId: row.jobId,
        laneId,
        rank: row.rank,
        pos: row.pos,
        attempt: row.attempt,
        lost: row.lost,
        cancelling: false,
        startedAt: now,
        createdAt: row.createdAt,
        dueAt: row.dueAt,
        timeoutMs: row.timeoutMs,
        policy: row.policy,
        version: row.version,
        work: row.work,
        input: row.input,
      }
    })
    leaseAll([node, now], taken)
    return leases
  }
}
