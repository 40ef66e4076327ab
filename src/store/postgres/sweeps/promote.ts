import { CLOCK_TOLERANCE_MS } from '../../../core/trusted-clock.ts'
import type { PromoteResult } from '../../port.ts'
import { admitAt } from '../gates/admit.ts'
import { bigints } from '../connection/binary-arrays.ts'
import type { Database } from '../database/database.ts'
import { CLOCK, WALL } from '../connection/statement.ts'
import { RECHECK_MS } from '../ticks/submit.ts'
import { transact } from '../connection/transaction.ts'

/** Timers are never updated, so the address of a locked one stays valid. */
const PROMOTE = {
  name: 'promote',
  text: `
  WITH ${CLOCK},
  due AS MATERIALIZED (
    SELECT t.*, ($2::bigint[])[row_number() OVER (ORDER BY due_at, run_id)] AS pos
      FROM (
        SELECT timer.ctid AS place, timer.* FROM timer
         WHERE due_at <= (SELECT now FROM clock)
           AND ($4::boolean OR abs(coalesce($5::bigint, ${WALL}) - (SELECT now FROM clock)) <= ${CLOCK_TOLERANCE_MS})
         ORDER BY due_at, run_id + 0 LIMIT $3::int FOR UPDATE SKIP LOCKED) t),
  deleted AS (DELETE FROM timer WHERE ctid = ANY (ARRAY(SELECT place FROM due))),
  to_ready AS (
    INSERT INTO ready (lane_id, rank, pos, run_id, attempt, lost, claim_no, avoid)
    SELECT lane_id, rank, pos, run_id, attempt, lost, claim_no, avoid FROM due WHERE NOT gated),
  to_blocked AS (
    INSERT INTO blocked (run_id, gate_id, gates, lane_id, rank, pos, attempt, lost, claim_no,
                         avoid, recheck_at)
    SELECT run_id, spec.gates[1], spec.gates, lane_id, rank, pos, attempt, lost, claim_no, avoid,
           now + ${RECHECK_MS}
      FROM due CROSS JOIN clock
     CROSS JOIN LATERAL (SELECT gates FROM run WHERE run.id = due.run_id LIMIT 1) spec
     WHERE gated
    RETURNING gate_id)
  SELECT count(*)::int AS promoted,
         array_agg(DISTINCT lane_id) FILTER (WHERE NOT gated) AS lanes,
         (SELECT array_agg(DISTINCT gate_id) FROM to_blocked) AS gates
    FROM due`,
}
const NEXT_DUE = { name: 'next-due', text: `SELECT min(due_at) AS "dueAt" FROM timer` }

export async function promote(
  db: Database,
  { positions, isClockOff = false }: { positions: readonly number[]; isClockOff?: boolean },
): Promise<PromoteResult> {
  return transact(db.duty, async (tx) => {
    const [row] = await tx.query<{
      promoted: number
      lanes: number[] | null
      gates: number[] | null
    }>(PROMOTE, [db.now(), bigints(positions), positions.length, isClockOff, db.testWall()])
    const { promoted, lanes, gates } = row!
    const admitted = await admitAt(tx, gates ?? [])
    const [next] = await tx.query<{ dueAt: number | null }>(NEXT_DUE)
    return {
      promoted,
      lanes: [...new Set([...(lanes ?? []), ...admitted])],
      nextDueAt: next!.dueAt,
    }
  })
}
