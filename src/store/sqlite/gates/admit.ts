import type { Database } from 'better-sqlite3'
import { admit, type GateCapacity } from '../../../core/queue/gate.ts'
import { prepareBulk } from '../connection/bulk.ts'
import { ascending, parseGateIds, type TickState } from '../tick-state/tick-state.ts'

/** How long a blocked run relies on the fast path before a sweep rechecks it. */
export const FIRST_RECHECK_MS = 30_000
/**
 * Extra candidates beyond a gate's free slots: some at the front may be blocked by another gate.
 */
const SPARE = 50
const MAX_PER_GATE = 500
/** Rounds over the fronts of the queues in one transaction; the recheck finds what is left over. */
const ROUNDS = 20

export const WAITING_AT = `
  SELECT id AS runId, lane_id AS laneId, rank, pos, gate_id AS gate, gates FROM run
   WHERE status = 3 AND gate_id = ? ORDER BY rank, pos LIMIT ?`
/**
 * Runs for nearly every run that passes a gate: reading the index alone costs a tenth of the query
 * above.
 */
export const HAS_WAITING = `SELECT 1 FROM run WHERE status = 3 AND gate_id = ? LIMIT 1`
export const READ_GATE = `SELECT id, capacity, held AS holders FROM gate WHERE id = ?`
export const CHANGE_HOLDERS = `UPDATE gate SET held = held + ? WHERE id = ?`
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
 * A run holds its gates while it is ready or running, and at no other time. Code that moves a run
 * into or out of these states calls this in the same transaction, so that a gate's count of holders
 * equals the number of such runs.
 */
export interface Gates {
  /**
   * Admits runs that wait at a touched gate, in queue order, while slots are free, and writes the
   * new holder counts. Must be the last gate operation of a transaction.
   */
  admitTouched(tick: TickState): void
  /**
   * Whether a new run passes all its gates: each has a free slot and nothing waits. If so, the run
   * has taken the slots.
   */
  enter(gates: readonly number[], tick: TickState): boolean
  /** Returns the slots of a run that was not inserted after all. */
  undoEnter(gates: readonly number[], tick: TickState): void
  /** A run leaves its gates; other runs may pass now. */
  release(gates: readonly number[], tick: TickState): void
}

export function prepareGates(db: Database): Gates {
  const isWaitedAt = db.prepare<[number]>(HAS_WAITING)
  const readGate = db.prepare<[number], GateCapacity>(READ_GATE)
  const changeHolders = db.prepare(CHANGE_HOLDERS)

  const occupancyOf = (gate: number, { occupancy }: TickState) =>
    occupancy.of(gate, (id) => readGate.get(id))
  const admitFront = prepareAdmitFront(db, occupancyOf)
  const hasCapacity = (gate: number, tick: TickState) => freeIn(occupancyOf(gate, tick)) > 0
  const hasWaiting = (gate: number) => isWaitedAt.get(gate) !== undefined

  return {
    admitTouched(tick) {
      // Most gates have nothing waiting.
      let open = ascending(tick.touched).filter(hasWaiting)
      for (let round = 0; round < ROUNDS; round += 1) {
        open = open.filter((gate) => hasCapacity(gate, tick))
        if (open.length === 0) break
        open = admitFront(open, tick)
      }
      for (const [gate, by] of tick.occupancy.takeChanges()) changeHolders.run(by, gate)
    },
    enter(gates, tick) {
      const { occupancy } = tick
      if (gates.length === 0) return false
      if (
        !gates.every((gate) => !occupancy.hasWaiting(gate, hasWaiting) && hasCapacity(gate, tick))
      )
        return false
      for (const gate of gates) occupancy.took(gate)
      return true
    },
    undoEnter(gates, { occupancy }) {
      for (const gate of gates) occupancy.left(gate)
    },
    release(gates, { touched, occupancy }) {
      for (const gate of gates) {
        touched.add(gate)
        occupancy.left(gate)
      }
    },
  }
}

/**
 * Checks the front of each queue once. Returns the gates that may have free slots beyond that
 * front.
 */
type AdmitFront = (open: readonly number[], tick: TickState) => number[]

function prepareAdmitFront(
  db: Database,
  occupancyOf: (gate: number, tick: TickState) => GateCapacity,
): AdmitFront {
  const waitingAt = db.prepare<[number, number], Waiter>(WAITING_AT)
  const bulkReady = prepareBulk(db, 1, makeReady)
  const waitAt = db.prepare(WAIT_AT)

  const pass = (runs: readonly Waiter[], gatesOf: GatesOf, tick: TickState) => {
    for (const { runId, laneId } of runs) {
      for (const gate of gatesOf.get(runId) ?? []) tick.occupancy.took(gate)
      tick.refilled.add(laneId)
    }
    bulkReady(
      [],
      runs.map(({ runId }) => runId),
    )
  }

  const decide = (waiters: readonly Waiter[], tick: TickState) => {
    const gatesOf = new Map(waiters.map(({ runId, gates }) => [runId, parseGateIds(gates)]))
    const byId = new Map(waiters.map((waiter) => [waiter.runId, waiter]))
    const candidates = Array.from(gatesOf, ([runId, gates]) => ({ runId, gates }))
    const needed = new Set(candidates.flatMap(({ gates }) => gates))
    const occupancy = Array.from(needed, (gate) => occupancyOf(gate, tick))
    const { admitted, waiting } = admit(candidates, occupancy)
    const passing = admitted.map((runId) => byId.get(runId) as Waiter)
    pass(passing, gatesOf, tick)
    for (const { runId, gate } of waiting) {
      if (byId.get(runId)?.gate !== gate) waitAt.run(gate, runId)
    }
  }

  return (open, tick) => {
    const unfinished: number[] = []
    const waiters: Waiter[] = []
    for (const gate of open) {
      const limit = Math.min(freeIn(occupancyOf(gate, tick)) + SPARE, MAX_PER_GATE)
      const front = waitingAt.all(gate, limit)
      waiters.push(...front)
      if (front.length === limit) unfinished.push(gate)
    }
    decide(waiters.sort(byQueueOrder), tick)
    return unfinished
  }
}

function freeIn({ capacity, holders }: GateCapacity): number {
  return capacity - holders
}

function byQueueOrder(a: Waiter, b: Waiter): number {
  return a.rank - b.rank || a.pos - b.pos || a.runId - b.runId
}
