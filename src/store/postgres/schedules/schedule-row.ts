export const SCHEDULE_COLUMNS = `
  s.id, s.project_id AS "projectId", s.job_id AS "jobId", s.name, n.version, s.spec,
  n.nominal_at AS "nextNominalAt", n.look_at AS "checkAt", n.last_nominal_at AS "lastNominalAt",
  n.open_runs AS "openRuns", s.skip_nominal_at AS "skipNominalAt", s.paused_at AS "pausedAt",
  s.paused_until AS "pausedUntil", s.paused_reason AS "pausedReason",
  s.paused_by_job AS "pausedByJob", s.resumed_at AS "resumedAt", s.error,
  s.created_at AS "createdAt", s.created_by AS "createdBy", s.updated_at AS "updatedAt",
  s.updated_by AS "updatedBy"`
