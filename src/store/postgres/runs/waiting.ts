import type { GateRecord, WaitQueries, WaitRecord } from '../../port.ts'
import { type Database, pickLists } from '../database/database.ts'
import { IS_LIVE } from './live-workflow.ts'
import { read } from '../connection/transaction.ts'

/** Rows examined to list some holders of a gate: this bounds the time of an answer to `why`. */
const MAX_EXAMINED = 10_000
const namedOf = (holders: string) => `
      SELECT array_agg(run_id) AS runs FROM (
        SELECT run_id FROM (${holders}) h WHERE gates @> ARRAY[g.id] ORDER BY run_id LIMIT 3) named`

const WAIT_OF = {
  name: 'wait-of',
  text: `
  SELECT t.due_at AS "timerAt", place.ahead::int AS ahead, g.name, g.capacity,
         g.held AS holders, coalesce(running.runs, admitted.runs) AS "heldBy",
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
         LIMIT $2::int) counted
       WHERE q.run_id IS NOT NULL) place ON q.run_id IS NOT NULL
    -- Prefer running holders; otherwise runs that were admitted and have no worker yet.
    LEFT JOIN LATERAL (${namedOf(`
      SELECT run_id, gates FROM lease WHERE gates IS NOT NULL
       UNION ALL
      (SELECT flow.run_id, spec.gates FROM flow CROSS JOIN LATERAL (
         SELECT gates FROM run WHERE run.id = flow.run_id LIMIT 1) spec
        WHERE ${IS_LIVE} LIMIT ${MAX_EXAMINED})`)}) running ON g.id IS NOT NULL
    LEFT JOIN LATERAL (${namedOf(`
      SELECT ready.run_id, spec.gates
        FROM (SELECT run_id FROM ready LIMIT ${MAX_EXAMINED}) ready CROSS JOIN LATERAL (
          SELECT gates FROM run WHERE run.id = ready.run_id LIMIT 1) spec`)}
    ) admitted ON g.id IS NOT NULL AND running.runs IS NULL`,
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
  { runId, maxCount }: Parameters<WaitQueries['waitOf']>[0],
): Promise<WaitRecord | null> {
  const [row] = await read<WaitRow>(pickLists(db), WAIT_OF, [runId, maxCount])
  if (!row?.waits) return null
  const { timerAt, ahead, after } = row
  return { timerAt, ahead, gate: gateOf(row), after }
}

function gateOf({ name, capacity, holders, heldBy }: WaitRow): GateRecord | null {
  return name === null ? null : { name, capacity, holders, heldBy: heldBy ?? [] }
}
