import { STATE_CODE } from '../../../core/run/run-state.ts'
import type { Signal } from '../../port.ts'
import { bigints } from '../connection/binary-arrays.ts'
import { CLOCK, reportedElsewhere, type Queryable } from '../connection/statement.ts'

/** Whether any job of these projects follows another; costs nothing where no job does. */
export const hasFollowers = (ended: string) => `
     (EXISTS (SELECT FROM follower) AND EXISTS (
       SELECT FROM follower WHERE project_id = ANY (ARRAY(SELECT project_id FROM ${ended}))))`

/**
 * Only ends in this transaction count: earlier ends were recorded then. A step of a workflow counts
 * only for follow rules that name that step.
 */
export const RECORD_FOLLOW_UPS = {
  name: 'record-follow-ups',
  text: `
  WITH ${CLOCK},
  ended AS MATERIALIZED (
    SELECT item.run_id, e.project_id, e.state, spec.job_id
      FROM unnest($2::bigint[]) AS item (run_id)
     CROSS JOIN LATERAL (
       SELECT project_id, state FROM run_end
        WHERE run_end.run_id = item.run_id AND run_end.xmin = pg_current_xact_id()::xid LIMIT 1) e
     CROSS JOIN LATERAL (SELECT job_id FROM run WHERE run.id = item.run_id LIMIT 1) spec
     WHERE EXISTS (SELECT FROM follower)),
  noted AS (
    INSERT INTO follow_up (source_run_id, job_id, project_id, source_job_id, state, at)
    SELECT ended.run_id, f.job_id, ended.project_id, ended.job_id, ended.state, now
      FROM ended CROSS JOIN clock
     CROSS JOIN LATERAL (
       SELECT job_id, source_id, cause_id, wants FROM follower
        WHERE source_id = ended.job_id OFFSET 0) f
     WHERE (f.wants = 'any' OR (f.wants = 'ok') = (ended.state = ${STATE_CODE.succeeded}))
       AND (f.cause_id <> f.source_id
            OR (SELECT run_id FROM step WHERE step.run_id = ended.run_id LIMIT 1) IS NULL)
    RETURNING source_run_id)
  SELECT DISTINCT source_run_id AS "runId" FROM noted`,
}
/**
 * Records which jobs are to run after these runs. Call it after the statements that end them, in
 * the same transaction.
 */
export function recordFollowUps(
  tx: Queryable,
  now: number | null,
  runIds: readonly number[],
): Promise<Signal[]> {
  const recording = tx.query<{ runId: number }>(RECORD_FOLLOW_UPS, [now, bigints(runIds)])
  const toSignals = ({ runId }: { runId: number }): Signal => ({ kind: 'followed', runId })
  return reportedElsewhere(recording.then((rows) => rows.map(toSignals)))
}
