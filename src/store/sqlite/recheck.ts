import type { Database } from 'better-sqlite3'
import type { SweepStore } from '../port.ts'
import type { Gates } from './admit.ts'
import { ascending, parseGates, startTick } from './tick-state.ts'

export const PAST_RECHECK = `
  SELECT id, gates FROM run WHERE status = 3 AND recheck_at <= ? ORDER BY recheck_at LIMIT ?`
export const POSTPONE = `UPDATE run SET recheck_at = ? WHERE id = ? AND status = 3`

export type Recheck = (
  input: Parameters<SweepStore['recheck']>[0],
  now: number,
) => { lanes: readonly number[]; more: boolean }

export function prepareRecheck(db: Database, gates: Gates): Recheck {
  const pastRecheck = db.prepare<[number, number], { id: number; gates: string }>(PAST_RECHECK)
  const postpone = db.prepare(POSTPONE)

  return ({ limit, recheckMs, gates: changed = [] }, now) => {
    const tick = startTick(now, 0)
    for (const gate of changed) tick.touched.add(gate)
    const rows = pastRecheck.all(now, limit)
    for (const row of rows) {
      for (const gate of parseGates(row.gates)) tick.touched.add(gate)
    }
    gates.admitTouched(tick)
    for (const row of rows) postpone.run(now + recheckMs, row.id)
    return { lanes: ascending(tick.refilled), more: limit > 0 && rows.length === limit }
  }
}
