import type { GateRecord, WaitQueries, WaitRecord } from '../port.ts'
import type { Database } from './database.ts'
import { read } from './transaction.ts'

const WAIT_OF = {
  name: 'wait-of',
  text: `
  SELECT t.due_at AS "timerAt", line.ahead::int AS ahead, g.name, g.capacity,
         held.holders::int AS holders, held.first AS "heldBy",
         t.run_id IS NOT NULL OR q.run_id IS NOT NULL OR b.run_id IS NOT NULL AS waits,
         ARRAY(
           SELECT DISTINCT needed_id FROM need
            WHERE need.run_id = r.id AND NOT EXISTS (
                    SELECT FROM run_end WHERE run_end.run_id = need.needed_id)
            ORDER BY needed_id LIMIT 3) AS after
    FROM (SELECT $1::bigint AS id) r
    LEFT JOIN timer t ON t.run_id = r.id
    LEFT JOIN ready q ON q.run_id = r.id
    LEFT JOIN blocked b ON b.run_id = r.id
    LEFT JOIN gate g ON g.id = b.gate_id
    LEFT JOIN LATERAL (
      SELECT count(*) AS ahead FROM (
        SELECT 1 FROM ready before
         WHERE before.lane_id = q.lane_id AND (before.rank, before.pos) < (q.rank, q.pos)
         LIMIT $2::int) few
       WHERE q.run_id IS NOT NULL) line ON q.run_id IS NOT NULL
    LEFT JOIN LATERAL (
      SELECT count(*) AS holders, (
               SELECT array_agg(run_id) FROM (
                 SELECT run_id FROM gate_holder WHERE gate_id = g.id
                  ORDER BY run_id + 0 LIMIT 3) oldest) AS first
        FROM gate_holder WHERE gate_id = g.id) held ON g.id IS NOT NULL`,
}

interface WaitRow extends Omit<WaitRecord, 'gate'> {
  readonly waits: boolean
  readonly name: string | null
  readonly capacity: number
  readonly holders: number
  readonly heldBy: readonly number[] | null
}

export async function waitOf(
  db: Database,
  { runId, most }: Parameters<WaitQueries['waitOf']>[0],
): Promise<WaitRecord | null> {
  const [row] = await read<WaitRow>(db.reading, WAIT_OF, [runId, most])
  if (!row?.waits) return null
  const { timerAt, ahead, after } = row
  return { timerAt, ahead, gate: gateOf(row), after }
}

function gateOf({ name, capacity, holders, heldBy }: WaitRow): GateRecord | null {
  return name === null ? null : { name, capacity, holders, heldBy: heldBy ?? [] }
}
