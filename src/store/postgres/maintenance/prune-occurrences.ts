import { msOfId } from '../../../core/ids.ts'
import type { ScheduleStore } from '../../port.ts'
import type { Database } from '../database/database.ts'
import { transact } from '../connection/transaction.ts'

const PRUNE = {
  name: 'prune-occurrences',
  text: `
  WITH old AS MATERIALIZED (
    SELECT schedule_id, nominal_at FROM occurrence WHERE id < $1::bigint
     ORDER BY id LIMIT $2::int FOR UPDATE SKIP LOCKED),
  deleted AS (
    DELETE FROM occurrence o USING old
     WHERE o.schedule_id = old.schedule_id AND o.nominal_at = old.nominal_at),
  ended AS MATERIALIZED (
    SELECT id FROM schedule WHERE deleted_at < $3::bigint ORDER BY deleted_at LIMIT $2::int),
  schedules AS (DELETE FROM schedule WHERE id = ANY (ARRAY(SELECT id FROM ended))),
  nexts AS (DELETE FROM schedule_next WHERE schedule_id = ANY (ARRAY(SELECT id FROM ended))),
  times AS MATERIALIZED (
    SELECT run_id FROM backfill_time WHERE run_id < $1::bigint ORDER BY run_id LIMIT $2::int),
  backfilled AS (DELETE FROM backfill_time WHERE run_id = ANY (ARRAY(SELECT run_id FROM times))),
  done AS MATERIALIZED (
    SELECT id FROM backfill WHERE finished_at < $3::bigint ORDER BY finished_at LIMIT $2::int),
  backfills AS (DELETE FROM backfill WHERE id = ANY (ARRAY(SELECT id FROM done))),
  violated AS MATERIALIZED (
    SELECT run_id FROM lapse WHERE run_id < $1::bigint ORDER BY run_id LIMIT $2::int),
  violations AS (DELETE FROM lapse WHERE run_id = ANY (ARRAY(SELECT run_id FROM violated))),
  followed AS MATERIALIZED (
    SELECT source_run_id, job_id FROM follow_up WHERE settled_at < $3::bigint
     ORDER BY settled_at LIMIT $2::int),
  follow_ups AS (
    DELETE FROM follow_up f USING followed
     WHERE f.source_run_id = followed.source_run_id AND f.job_id = followed.job_id),
  voided AS MATERIALIZED (
    SELECT schedule_id, nominal_at, id FROM void_occurrence WHERE voided_at < $3::bigint
     ORDER BY voided_at LIMIT $2::int),
  void_occurrences AS (
    DELETE FROM void_occurrence v USING voided
     WHERE v.schedule_id = voided.schedule_id AND v.nominal_at = voided.nominal_at
       AND v.id = voided.id)
  SELECT greatest((SELECT count(*) FROM old), (SELECT count(*) FROM ended),
                  (SELECT count(*) FROM times), (SELECT count(*) FROM done),
                  (SELECT count(*) FROM violated), (SELECT count(*) FROM followed),
                  (SELECT count(*) FROM voided))::int AS largest`,
}

export async function pruneOccurrences(
  db: Database,
  { before, limit }: Parameters<ScheduleStore['pruneOccurrences']>[0],
): Promise<{ more: boolean }> {
  const values = [before, limit, msOfId(before)]
  const [row] = await transact(
    db.reading,
    (tx) => tx.query<{ largest: number }>(PRUNE, values),
    'single',
  )
  return { more: row!.largest === limit }
}
