import type { Database } from 'better-sqlite3'
import { admit, type GateRoom } from '../../../core/queue/gate.ts'
import { prepareBulk } from '../connection/bulk.ts'
import { ascending, parseGates, type TickState } from '../tick-state/tick-state.ts'

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
/** Asked for nearly every run that passes a gate: a look at the index alone costs a tenth of the one above. */
export const HAS_LINE = `SELECT 1 FROM run WHERE status = 3 AND gate_id = ? LIMIT 1`
export const ROOM = `SELECT id, capacity, held AS holders FROM gate WHERE id = ?`
export const CHANGE_HELD = `UPDATE gate SET held = held + ? WHERE id = ?`
export const makeReady = (rows: string) => `
  UPDATE run SET status = 0, gate_id = NULL, recheck_at = NULL WHERE id IN (${rows}) AND status = 3`
export const WAIT_AT = `UPDATE run SET gate_id = ? WHERE id = ? AND status = 3`

interface Waiter {
  readonly runId: number
  readonly laneId: number
  readonly rank: number
  readonly pos: number
  readonly gate: number
  readonly gates: string
}

type GatesOf = ReadonlyMap<number, readonly number[]>

/**
 * A run holds its gates while it is ready or running, and at no other time. So whoever moves a run in
 * or out of these states says so here, in the same transaction, and the count of a gate is the
 * count of such runs.
 */
export interface Gates {
  /**
   * Lets runs that wait at a touched gate pass, in the order of their lines, while there is room; and
   * writes down how many hold each gate now. The last that a transaction does with gates.
   */
  admitTouched(tick: TickState): void
  /** Whether a new run passes all its gates: there is room, and nobody waits. If so, it has its places. */
  enter(gates: readonly number[], tick: TickState): boolean
  /** It did not come after all. */
  turnBack(gates: readonly number[], tick: TickState): void
  /** A run leaves its gates; others may pass now. */
  letGo(gates: readonly number[], tick: TickState): void
}

export function prepareGates(db: Database): Gates {
  const waitingAt = db.prepare<[number, number], Waiter>(WAITING_AT)
  const isWaitedAt = db.prepare<[number]>(HAS_LINE)
  const room = db.prepare<[number], GateRoom>(ROOM)
  const changeHeld = db.prepare(CHANGE_HELD)
  const bulkReady = prepareBulk(db, 1, makeReady)
  const waitAt = db.prepare(WAIT_AT)

  const roomAt = (gate: number, { rooms }: TickState) => rooms.of(gate, (id) => room.get(id))
  const hasRoom = (gate: number, tick: TickState) => freeIn(roomAt(gate, tick)) > 0
  const hasLine = (gate: number) => isWaitedAt.get(gate) !== undefined

  const pass = (runs: readonly Waiter[], gatesOf: GatesOf, tick: TickState) => {
    for (const { runId, laneId } of runs) {
      for (const gate of gatesOf.get(runId) ?? []) tick.rooms.took(gate)
      tick.refilled.add(laneId)
    }
    bulkReady(
      [],
      runs.map(({ runId }) => runId),
    )
  }

  const decide = (waiters: readonly Waiter[], tick: TickState) => {
    const gatesOf = new Map(waiters.map(({ runId, gates }) => [runId, parseGates(gates)]))
    const byId = new Map(waiters.map((waiter) => [waiter.runId, waiter]))
    const candidates = Array.from(gatesOf, ([runId, gates]) => ({ runId, gates }))
    const needed = new Set(candidates.flatMap(({ gates }) => gates))
    const rooms = Array.from(needed, (gate) => roomAt(gate, tick))
    const { admitted, waiting } = admit(candidates, rooms)
    const passing = admitted.map((runId) => byId.get(runId) as Waiter)
    pass(passing, gatesOf, tick)
    for (const { runId, gate } of waiting) {
      if (byId.get(runId)?.gate !== gate) waitAt.run(gate, runId)
    }
  }

  /** One look at the front of each line. Returns the gates whose front may have left room behind. */
  const lookOnce = (open: readonly number[], tick: TickState): number[] => {
    const goesOn: number[] = []
    const waiters: Waiter[] = []
    for (const gate of open) {
      const limit = Math.min(freeIn(roomAt(gate, tick)) + SPARE, MOST_AT_A_GATE)
      const front = waitingAt.all(gate, limit)
      waiters.push(...front)
      if (front.length === limit) goesOn.push(gate)
    }
    decide(waiters.sort(inLineOrder), tick)
    return goesOn
  }

  return {
    admitTouched(tick) {
      // At most gates nobody waits.
      let open = ascending(tick.touched).filter(hasLine)
      for (let round = 0; round < ROUNDS; round += 1) {
        open = open.filter((gate) => hasRoom(gate, tick))
        if (open.length === 0) break
        open = lookOnce(open, tick)
      }
      for (const [gate, by] of tick.rooms.takeChanges()) changeHeld.run(by, gate)
    },
    enter(gates, tick) {
      const { rooms } = tick
      if (gates.length === 0) return false
      if (!gates.every((gate) => !rooms.hasLine(gate, hasLine) && hasRoom(gate, tick))) return false
      for (const gate of gates) rooms.took(gate)
      return true
    },
    turnBack(gates, { rooms }) {
      for (const gate of gates) rooms.left(gate)
    },
    letGo(gates, { touched, rooms }) {
      for (const gate of gates) {
        touched.add(gate)
        rooms.left(gate)
      }
    },
  }
}

function freeIn({ capacity, holders }: GateRoom): number {
  return capacity - holders
}

function inLineOrder(a: Waiter, b: Waiter): number {
  return a.rank - b.rank || a.pos - b.pos || a.runId - b.runId
}
