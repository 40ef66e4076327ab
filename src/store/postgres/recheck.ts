import type { SweepStore } from '../port.ts'
import { admitAt } from './admit.ts'
import { bigints } from './binary-arrays.ts'
import type { Database } from './database.ts'
import { CLOCK } from './statement.ts'
import { transact } from './transaction.ts'

const TO_RECHECK = {
  name: 'to-recheck',
  text: `
  WITH ${CLOCK}
  SELECT run_id AS "runId", gates FROM blocked
   WHERE recheck_at <= (SELECT now FROM clock)
   ORDER BY recheck_at, run_id LIMIT $2::int FOR UPDATE SKIP LOCKED`,
}
const STAY = {
  name: 'stay-blocked',
  text: `
  WITH ${CLOCK}
  UPDATE blocked SET recheck_at = now + $3::bigint FROM clock WHERE run_id = ANY ($2::bigint[])`,
}

export async function recheck(
  db: Database,
  { limit, recheckMs, gates: changed = [] }: Parameters<SweepStore['recheck']>[0],
): Promise<{ lanes: readonly number[]; more: boolean }> {
  return transact(db.duty, async (work) => {
    const now = db.now()
    const rows = await work.query<{ runId: number; gates: number[] }>(TO_RECHECK, [now, limit])
    if (rows.length + changed.length === 0) return { lanes: [], more: false }
    const gates = new Set([...changed, ...rows.flatMap((row) => row.gates)])
    const lanes = await admitAt(
      work,
      [...gates].toSorted((a, b) => a - b),
    )
    await work.query(STAY, [now, bigints(rows.map(({ runId }) => runId)), recheckMs])
    return { lanes: [...lanes], more: limit > 0 && rows.length === limit }
  })
}
