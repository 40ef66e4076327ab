import type { Database } from 'better-sqlite3'
import { STATE_CODE } from '../../core/run-state.ts'
import type { GateRecord, WaitQueries } from '../port.ts'
import type { Sync } from './verbs.ts'

export const WAITING = `
  SELECT status, lane_id AS laneId, rank, pos, timer_at AS timerAt, gate_id AS gateId
    FROM run WHERE id = ? AND status IN (0, 2, 3)`
export const AHEAD = `
  SELECT count(*) FROM (
    SELECT 1 FROM run WHERE status = 0 AND lane_id = ? AND (rank, pos) < (?, ?) LIMIT ?)`
export const GATE = `
  SELECT name, capacity, (SELECT count(*) FROM gate_holder WHERE gate_id = gate.id) AS holders
    FROM gate WHERE id = ?`
export const HELD_BY = `SELECT run_id FROM gate_holder WHERE gate_id = ? ORDER BY run_id LIMIT 3`

export const OPEN_NEEDS = `
  SELECT DISTINCT needed_id FROM need JOIN run ON run.id = needed_id
   WHERE run_id = ? AND run.status < 4 ORDER BY needed_id LIMIT 3`

interface WaitingRow {
  readonly status: number
  readonly laneId: number
  readonly rank: number
  readonly pos: number
  readonly timerAt: number | null
  readonly gateId: number | null
}

export function prepareWaitQueries(db: Database): Sync<WaitQueries> {
  const find = db.prepare<[number], WaitingRow>(WAITING)
  const ahead = db.prepare<[number, number, number, number], number>(AHEAD).pluck()
  const gate = db.prepare<[number], Omit<GateRecord, 'heldBy'>>(GATE)
  const heldBy = db.prepare<[number], number>(HELD_BY).pluck()
  const openNeeds = db.prepare<[number], number>(OPEN_NEEDS).pluck()

  return {
    waitOf({ runId, most }) {
      const run = find.get(runId)
      if (!run) return null
      const { status, laneId, rank, pos, timerAt, gateId } = run
      const isReady = status === STATE_CODE.ready
      const waitsAt =
        status === STATE_CODE.blocked && gateId !== null ? gate.get(gateId) : undefined
      return {
        timerAt: status === STATE_CODE.scheduled ? timerAt : null,
        ahead: isReady ? (ahead.get(laneId, rank, pos, most) ?? 0) : null,
        gate: waitsAt ? { ...waitsAt, heldBy: heldBy.all(gateId as number) } : null,
        after: status === STATE_CODE.blocked ? openNeeds.all(runId) : [],
      }
    },
  }
}
