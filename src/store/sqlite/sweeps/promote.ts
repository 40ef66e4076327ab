import type { Database } from 'better-sqlite3'
import type { PromoteResult } from '../../port.ts'
import { FIRST_RECHECK_MS, type Gates } from '../gates/admit.ts'
import { ascending, parseGateIds, startTick } from '../tick-state/tick-state.ts'

export const DUE_TIMERS = `
  SELECT id, lane_id AS laneId, gates FROM run
   WHERE status = 2 AND timer_at <= ? ORDER BY timer_at, id LIMIT ?`
export const DUE_TO_READY = `
  UPDATE run SET status = 0, pos = ?, timer_at = NULL WHERE id = ? AND status = 2`
export const DUE_TO_BLOCKED = `
  UPDATE run SET status = 3, pos = ?, timer_at = NULL, gate_id = ?, recheck_at = ?
   WHERE id = ? AND status = 2`
export const NEXT_TIMER_DUE = `SELECT timer_at FROM run WHERE status = 2 ORDER BY timer_at LIMIT 1`

interface DueRow {
  readonly id: number
  readonly laneId: number
  readonly gates: string | null
}

export type Promote = (input: { positions: readonly number[] }, now: number) => PromoteResult

export function preparePromote(db: Database, gates: Gates): Promote {
  const due = db.prepare<[number, number], DueRow>(DUE_TIMERS)
  const toReady = db.prepare(DUE_TO_READY)
  const toBlocked = db.prepare(DUE_TO_BLOCKED)
  const nextDue = db.prepare<[], number>(NEXT_TIMER_DUE).pluck()

  return ({ positions }, now) => {
    const tick = startTick(now, 0)
    const rows = due.all(now, positions.length)
    for (const [i, row] of rows.entries()) {
      const pos = positions[i] as number
      const gate = parseGateIds(row.gates)[0]
      if (gate === undefined) {
        toReady.run(pos, row.id)
        tick.refilled.add(row.laneId)
      } else {
        toBlocked.run(pos, gate, now + FIRST_RECHECK_MS, row.id)
        tick.touched.add(gate)
      }
    }
    gates.admitTouched(tick)
    return {
      promoted: rows.length,
      lanes: ascending(tick.refilled),
      nextDueAt: nextDue.get() ?? null,
    }
  }
}
