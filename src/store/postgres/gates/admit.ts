import { admit, type GateCapacity } from '../../../core/queue/gate.ts'
import { bigints, ints } from '../connection/binary-arrays.ts'
import { reportedElsewhere, type Queryable } from '../connection/statement.ts'

/**
 * Extra candidates beyond a gate's free slots: some at the front may be blocked by another gate.
 */
const SPARE = 50
const MAX_PER_GATE = 500
const ROUNDS = 20

const LOCK_GATES = {
  name: 'lock-gates',
  text: `SELECT id FROM gate WHERE id = ANY ($1::int[]) ORDER BY id FOR UPDATE`,
}
/**
 * Never waits, so it may lock in any order. A gate it cannot lock counts as full: see `WAIT_AT`.
 */
const TRY_GATES = {
  name: 'try-gates',
  text: `SELECT id FROM gate WHERE id = ANY ($1::int[]) ORDER BY id FOR UPDATE SKIP LOCKED`,
}
const READ_OCCUPANCY = {
  name: 'read-occupancy',
  text: `
  SELECT id, capacity, held AS holders FROM gate WHERE id = ANY ($1::int[])`,
}
/**
 * Only for gates this transaction has locked, so that transactions never wait for each other in a
 * cycle.
 */
const CHANGE_HOLDERS = {
  name: 'change-holders',
  text: `
  UPDATE gate SET held = held + item.change
    FROM unnest($1::int[], $2::int[]) AS item (id, change) WHERE gate.id = item.id`,
}
const READ_GATES = {
  name: 'read-gates',
  text: `
  SELECT id, capacity, held AS holders,
         EXISTS (SELECT FROM blocked b WHERE b.gate_id = gate.id) AS "hasWaiting"
    FROM gate WHERE id = ANY ($1::int[])`,
}
const READ_CANDIDATES = {
  name: 'read-candidates',
  text: `
  SELECT b.run_id AS "runId", b.gate_id AS "gateId", b.gates
    FROM unnest($1::int[], $2::int[]) AS g (id, wanted)
   CROSS JOIN LATERAL (
     SELECT run_id, gate_id, gates, rank, pos FROM blocked WHERE blocked.gate_id = g.id
      ORDER BY rank, pos LIMIT g.wanted FOR UPDATE SKIP LOCKED) b
   ORDER BY b.rank, b.pos, b.run_id`,
}
const PASS = {
  name: 'pass-gates',
  text: `
  WITH passed AS (
    DELETE FROM blocked WHERE run_id = ANY ($1::bigint[])
    RETURNING run_id, lane_id, rank, pos, attempt, lost, claim_no, avoid),
  to_ready AS (
    INSERT INTO ready (lane_id, rank, pos, run_id, attempt, lost, claim_no, avoid)
    SELECT lane_id, rank, pos, run_id, attempt, lost, claim_no, avoid FROM passed)
  SELECT DISTINCT lane_id AS "laneId" FROM passed`,
}
/**
 * The transaction that holds a gate we could not lock may already have read the runs that wait
 * there, without this one. A run that is sent to such a gate (`$3`) is left to the next sweep, as
 * overdue.
 */
const WAIT_AT = {
  name: 'wait-at-gate',
  text: `
  UPDATE blocked SET gate_id = ($2::int[])[array_position($1::bigint[], run_id)],
         recheck_at = CASE WHEN run_id = ANY ($3::bigint[]) THEN 0 ELSE recheck_at END
   WHERE run_id = ANY ($1::bigint[])`,
}

interface Waiting {
  readonly runId: number
  readonly gateId: number
  readonly gates: readonly number[]
}

/**
 * Admits runs at the touched gates, as far as there are free slots. Slots are counted after the
 * gates are locked, by statements that see what was committed until then: when a new run
 * and a release do not see each other, both transactions call this function, and the later one
 * counts both. Gates are in
 * ascending order; `freed` lists a gate once per slot that was freed. Returns the lanes that
 * received runs.
 */
export async function admitAt(
  tx: Queryable,
  touched: readonly number[],
  freed: readonly number[] = [],
): Promise<Set<number>> {
  if (touched.length === 0) return new Set()
  const locked = await lockAll(tx, touched)
  changeHolders(tx, { left: freed })
  return admitWithin(tx, new Set(locked), locked)
}

/**
 * A run holds its gates while it is ready or under way, and at no other time. Code that moves runs
 * into or out of these states calls this in the same transaction, naming a gate once per slot.
 */
export function changeHolders(
  tx: Queryable,
  { taken = [], left = [] }: { taken?: readonly number[]; left?: readonly number[] },
): void {
  const changes = new Map<number, number>()
  for (const gate of taken) changes.set(gate, (changes.get(gate) ?? 0) + 1)
  for (const gate of left) changes.set(gate, (changes.get(gate) ?? 0) - 1)
  const rows = [...changes].filter(([, by]) => by !== 0)
  if (rows.length === 0) return
  const values = [ints(rows.map(([gate]) => gate)), ints(rows.map(([, by]) => by))]
  void reportedElsewhere(tx.query(CHANGE_HOLDERS, values))
}

/** Locks in ascending order, as every transaction does. */
export function lockAll(tx: Queryable, gates: readonly number[]): Promise<number[]> {
  return lockGates(tx, LOCK_GATES, gates)
}

/** Like `admitAt`, for gates of which those in `locked` are locked already. */
export async function admitWithin(
  tx: Queryable,
  locked: Set<number>,
  touched: readonly number[],
): Promise<Set<number>> {
  const lanes = new Set<number>()
  let open = [...touched]
  for (let round = 0; round < ROUNDS && open.length > 0; round += 1) {
    open = await admitFront(tx, open, locked, lanes)
  }
  return lanes
}

/** A gate's capacity and holders, and whether runs wait at it. */
export interface GateView extends GateCapacity {
  readonly hasWaiting: boolean
}

/**
 * Locks gates in ascending order and reads them, both in one round trip: the second statement
 * begins when the first has its locks, and sees what was committed until then.
 */
export function lockAndReadGates(tx: Queryable, gates: readonly number[]): Promise<GateView[]> {
  void reportedElsewhere(lockAll(tx, gates))
  return tx.query<GateView>(READ_GATES, [ints(gates)])
}

/**
 * Checks the front of each queue once. Returns the gates that may have free slots beyond that
 * front.
 */
async function admitFront(
  tx: Queryable,
  gates: readonly number[],
  locked: Set<number>,
  lanes: Set<number>,
): Promise<number[]> {
  const occupancy = await readOccupancy(tx, [...locked])
  const open = occupancy
    .filter(({ id, capacity, holders }) => gates.includes(id) && holders < capacity)
    .map(({ id, capacity, holders }) => ({
      id,
      wanted: Math.min(capacity - holders + SPARE, MAX_PER_GATE),
    }))
  if (open.length === 0) return []
  const waiting = await tx.query<Waiting>(READ_CANDIDATES, [
    ints(open.map(({ id }) => id)),
    ints(open.map(({ wanted }) => wanted)),
  ])
  if (waiting.length === 0) return []

  occupancy.push(...(await lockOthers(tx, waiting, locked)))
  const admission = admit(waiting, occupancy)
  const gateOf = new Map(waiting.map(({ runId, gateId }) => [runId, gateId]))
  const moved = admission.waiting.filter(({ runId, gate }) => gateOf.get(runId) !== gate)
  const gatesOf = new Map(waiting.map(({ runId, gates }) => [runId, gates]))
  const taken = admission.admitted.flatMap((runId) => gatesOf.get(runId) ?? [])
  changeHolders(tx, { taken })
  const [passed] = await Promise.all([pass(tx, admission.admitted), waitAt(tx, moved, locked)])
  for (const lane of passed) lanes.add(lane)

  const byGate = Map.groupBy(waiting, ({ gateId }) => gateId)
  return open.filter(({ id, wanted }) => byGate.get(id)?.length === wanted).map(({ id }) => id)
}

/** The other gates these runs need, as far as they can be locked without waiting. */
async function lockOthers(
  tx: Queryable,
  waiting: readonly Waiting[],
  locked: Set<number>,
): Promise<GateCapacity[]> {
  const others = new Set(waiting.flatMap(({ gates }) => gates).filter((gate) => !locked.has(gate)))
  if (others.size === 0) return []
  const gained = await lockGates(tx, TRY_GATES, [...others])
  for (const gate of gained) locked.add(gate)
  return readOccupancy(tx, gained)
}

async function lockGates(
  tx: Queryable,
  statement: typeof LOCK_GATES,
  gates: readonly number[],
): Promise<number[]> {
  const rows = await tx.query<{ id: number }>(statement, [ints(gates)])
  return rows.map(({ id }) => id)
}

async function readOccupancy(tx: Queryable, gates: readonly number[]): Promise<GateCapacity[]> {
  return gates.length === 0 ? [] : tx.query<GateCapacity>(READ_OCCUPANCY, [ints(gates)])
}

async function pass(tx: Queryable, runs: readonly number[]): Promise<number[]> {
  if (runs.length === 0) return []
  const rows = await tx.query<{ laneId: number }>(PASS, [bigints(runs)])
  return rows.map(({ laneId }) => laneId)
}

async function waitAt(
  tx: Queryable,
  moved: readonly { runId: number; gate: number }[],
  locked: ReadonlySet<number>,
): Promise<void> {
  if (moved.length === 0) return
  const unseen = moved.filter(({ gate }) => !locked.has(gate))
  await tx.query(WAIT_AT, [
    bigints(moved.map(({ runId }) => runId)),
    ints(moved.map(({ gate }) => gate)),
    bigints(unseen.map(({ runId }) => runId)),
  ])
}
