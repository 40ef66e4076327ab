import { STATE_CODE } from '../../../core/run/run-state.ts'
import type { News } from '../../port.ts'
import { bigints } from '../connection/binary-arrays.ts'
import { CLOCK, reportedElsewhere, type Work } from '../connection/statement.ts'

/** Whether any job of their projects follows another; where none does at all, that costs nothing. */
export const someoneFollows = (ended: string) => `
     (EXISTS (SELECT FROM follower) AND EXISTS (
       SELECT FROM follower WHERE project_id = ANY (ARRAY(SELECT project_id FROM ${ended}))))`

/**
 * Only what ended in this very transaction counts: what ended before was noted then. What is part of
 * a workflow belongs to that, and counts only for those who asked for it by name.
 */
export const NOTE_FOLLOWED = {
  name: 'note-followed',
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
/** Writes down which jobs are to run after these runs, after whatever ended them in the same transaction. */
export function noteFollowed(
  work: Work,
  now: number | null,
  runIds: readonly number[],
): Promise<News[]> {
  const noting = work.query<{ runId: number }>(NOTE_FOLLOWED, [now, bigints(runIds)])
  const toNews = ({ runId }: { runId: number }): News => ({ kind: 'followed', runId })
  return reportedElsewhere(noting.then((rows) => rows.map(toNews)))
}
