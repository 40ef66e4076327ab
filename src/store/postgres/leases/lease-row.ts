/** Columns of a `Lease`; expects the lease as `l` and joins its spec. */
export const LEASE_COLUMNS = `
  l.run_id AS "runId", l.fence, l.node, l.session, l.project_id AS "projectId",
  spec.job_id AS "jobId", l.lane_id AS "laneId", l.rank, l.pos, l.attempt, l.lost, l.cancelling,
  l.started_at AS "startedAt", spec.created_at AS "createdAt", spec.due_at AS "dueAt",
  spec.timeout_ms AS "timeoutMs", spec.policy, spec.version, spec.work, spec.input`
export const WITH_SPEC = `CROSS JOIN LATERAL (SELECT * FROM run WHERE run.id = l.run_id LIMIT 1) spec`
