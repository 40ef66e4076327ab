import type { Database } from 'better-sqlite3'
import { admit, type GateRoom } from '../../core/gate.ts'
import { ascending, parseGates, type TickState } from './tick-state.ts'

/** How long a blocked run trusts the fast path before a sweep looks at it. */
export const FIRST_RECHECK_MS = 30_000
/** Candidates beyond a gate's room: some of those in front may be held up by another gate. */
const SPARE = 50
const MOST_AT_A_GATE = 500
/** Looks at the front of the lines in one transaction; what is left over is found by the recheck. */
const ROUNDS = 20

export const WAITING_AT = `
  SELECT id AS runId, lane_id AS laneId, rank, pos, gate_id AS gate, gates FROM run
   WHERE status = 3 AND gate_id = ? ORDER BY rank, pos LIMIT ?`
export const ROOM = `
  SELECT id, capacity, (SELECT count(*) FROM gate_holder WHERE gate_id = gate.id) AS holders
    FROM gate WHERE id = ?`
export const HOLD = `INSERT INTO gate_holder (gate_id, run_id) VALUES (?, ?)`
export const LET_GO = `DELETE FROM gate_holder WHERE gate_id = ? AND run_id = ?`
export const MAKE_READY = `
  UPDATE run SET status = 0, gate_id = NULL, recheck_at = NULL WHERE id = ? AND status = 3`
export const WAIT_AT = `UPDATE run SET gate_id = ? WHERE id = ? AND status = 3`

interface Waiter {
  readonly runId: number
  readonly laneId: number
  readonly rank: number
  readonly pos: number
  readonly gate: number
  readonly gates: string
}

export interface Gates {
  /** Lets runs that wait at a touched gate pass, in the order of their lines, while there is room. */
  admitTouched(tick: TickState): void
  /** The run leaves its gates; others may pass now. */
  letGo(gates: string | null, runId: number, tick: TickState): void
}

export function prepareGates(db: Database): Gates {
  const waitingAt = db.prepare<[number, number], Waiter>(WAITING_AT)
  const room = db.prepare<[number], GateRoom>(ROOM)
  const hold = db.prepare(HOLD)
  const letGo = db.prepare(LET_GO)
  const makeReady = db.prepare(MAKE_READY)
  const waitAt = db.prepare(WAIT_AT)

  const pass = (
    { runId, laneId }: Waiter,
    gates: readonly number[],
    rooms: Rooms,
    tick: TickState,
  ) => {
    for (const gate of gates) {
      hold.run(gate, runId)
      rooms.take(gate)
    }
    makeReady.run(runId)
    tick.refilled.add(laneId)
  }

  const decide = (waiters: readonly Waiter[], rooms: Rooms, tick: TickState) => {
    const gatesOf = new Map(waiters.map(({ runId, gates }) => [runId, parseGates(gates)]))
    const byId = new Map(waiters.map((waiter) => [waiter.runId, waiter]))
    const candidates = Array.from(gatesOf, ([runId, gates]) => ({ runId, gates }))
    const needed = new Set(candidates.flatMap(({ gates }) => gates))
    const { admitted, waiting } = admit(candidates, rooms.of(needed))
    for (const runId of admitted)
      pass(byId.get(runId) as Waiter, gatesOf.get(runId) ?? [], rooms, tick)
    for (const { runId, gate } of waiting) {
      if (byId.get(runId)?.gate !== gate) waitAt.run(gate, runId)
    }
  }

  /** One look at the front of each line. Returns the gates whose front may have left room behind. */
  const lookOnce = (open: readonly number[], rooms: Rooms, tick: TickState): number[] => {
    const goesOn: number[] = []
    const waiters: Waiter[] = []
    for (const gate of open) {
      const limit = Math.min(rooms.free(gate) + SPARE, MOST_AT_A_GATE)
      const front = waitingAt.all(gate, limit)
      waiters.push(...front)
      if (front.length === limit) goesOn.push(gate)
    }
    decide(waiters.sort(inLineOrder), rooms, tick)
    return goesOn
  }

  return {
    admitTouched(tick) {
      if (tick.touched.size === 0) return
      const rooms = createRooms((gate) => room.get(gate))
      // Counting holders is the dear part; at most gates nobody waits.
      let open = ascending(tick.touched).filter((gate) => waitingAt.get(gate, 1) !== undefined)
      for (let round = 0; round < ROUNDS; round += 1) {
        open = open.filter((gate) => rooms.free(gate) > 0)
        if (open.length === 0) break
        open = lookOnce(open, rooms, tick)
      }
    },
    letGo(gates, runId, tick) {
      for (const gate of parseGates(gates)) {
        if (letGo.run(gate, runId).changes > 0) tick.touched.add(gate)
      }
    },
  }
}

function inLineOrder(a: Waiter, b: Waiter): number {
  return a.rank - b.rank || a.pos - b.pos || a.runId - b.runId
}

interface Rooms {
  of(gates: Iterable<number>): GateRoom[]
  free(gate: number): number
  take(gate: number): void
}

/** Rooms counted from the holders, once per transaction, then kept in step with what it admits. */
function createRooms(count: (gate: number) => GateRoom | undefined): Rooms {
  const known = new Map<number, GateRoom>()
  const get = (id: number): GateRoom => {
    const room = known.get(id) ?? count(id) ?? { id, capacity: 0, holders: 0 }
    known.set(id, room)
    return room
  }
  return {
    of: (gates) => Array.from(gates, get),
    free: (gate) => get(gate).capacity - get(gate).holders,
    take: (gate) => {
      const room = get(gate)
      known.set(gate, { ...room, holders: room.holders + 1 })
    },
  }
}
