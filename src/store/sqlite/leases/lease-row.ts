import type { Lease } from '../../port.ts'

/** A lease as the driver returns it: SQLite has no booleans. */
export type LeaseRow = Omit<Lease, 'cancelling'> & { readonly cancelling: number }

export const LEASE_COLUMNS = `
  id AS runId, fence, node, session, project_id AS projectId, job_id AS jobId, lane_id AS laneId,
  rank, pos, attempt, lost, cancelling, started_at AS startedAt, created_at AS createdAt,
  due_at AS dueAt, timeout_ms AS timeoutMs, policy, version, work, input`

export function toLease(row: LeaseRow): Lease {
  return { ...row, cancelling: row.cancelling === 1 }
}
