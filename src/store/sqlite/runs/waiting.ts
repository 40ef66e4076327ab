import type { Database } from 'better-sqlite3'
import { STATE_CODE } from '../../../core/run/run-state.ts'
import type { GateRecord, WaitQueries } from '../../port.ts'
import type { Sync } from '../connection/sync.ts'

export const WAITING = `
  SELECT status, lane_id AS laneId, rank, pos, timer_at AS timerAt, gate_id AS gateId
    FROM run WHERE id = ? AND status IN (0, 2, 3)`
export const AHEAD = `
  SELECT count(*) FROM (
    SELECT 1 FROM run WHERE status = 0 AND lane_id = ? AND (rank, pos) < (?, ?) LIMIT ?)`
/** Rows examined to list some holders of a gate: this bounds the time of an answer to `why`. */
const MAX_EXAMINED = 10_000

export const GATE = `
  SELECT name, capacity, held AS holders FROM gate WHERE id = ?`
/** Prefers running holders; otherwise runs that were admitted and have no worker yet. */
const heldBy = (holders: string) => `
  SELECT id FROM (SELECT id, gates FROM run WHERE ${holders} LIMIT ${MAX_EXAMINED})
   WHERE EXISTS (SELECT 1 FROM json_each(gates) WHERE value = ?) ORDER BY id LIMIT 3`
export const HELD_BY_RUNNING = heldBy('status = 1 AND gates IS NOT NULL')
export const HELD_BY_READY = heldBy('status = 0 AND gates IS NOT NULL')

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
  const heldByRunning = db.prepare<[number], number>(HELD_BY_RUNNING).pluck()
  const heldByReady = db.prepare<[number], number>(HELD_BY_READY).pluck()
  const heldByOf = (gateId: number) => {
    const running = heldByRunning.all(gateId)
    return running.length > 0 ? running : heldByReady.all(gateId)
  }
  const openNeeds = db.prepare<[number], number>(OPEN_NEEDS).pluck()

  return {
    waitOf({ runId, maxCount }) {
      const run = find.get(runId)
      if (!run) return null
      const { status, laneId, rank, pos, timerAt, gateId } = run
      const isReady = status === STATE_CODE.ready
      const waitsAt =
        status === STATE_CODE.blocked && gateId !== null ? gate.get(gateId) : undefined
      return {
        timerAt: status === STATE_CODE.scheduled ? timerAt : null,
        ahead: isReady ? (ahead.get(laneId, rank, pos, maxCount) ?? 0) : null,
        gate: waitsAt ? { ...waitsAt, heldBy: heldByOf(gateId as number) } : null,
        after: status === STATE_CODE.blocked ? openNeeds.all(runId) : [],
      }
    },
  }
}
