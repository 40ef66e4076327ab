import { admit, type GateRoom } from '../../../core/queue/gate.ts'
import { bigints, ints } from '../connection/binary-arrays.ts'
import { reportedElsewhere, type Work } from '../connection/statement.ts'

/** Candidates beyond a gate's room: some of those in front may be held up by another gate. */
const SPARE = 50
const MOST_AT_A_GATE = 500
const ROUNDS = 20

const LOCK_GATES = {
  name: 'lock-gates',
  text: `SELECT id FROM gate WHERE id = ANY ($1::int[]) ORDER BY id FOR UPDATE`,
}
/** Never waits, so it may lock in any order. What it cannot have counts as full: see `WAIT_AT`. */
const TRY_GATES = {
  name: 'try-gates',
  text: `SELECT id FROM gate WHERE id = ANY ($1::int[]) ORDER BY id FOR UPDATE SKIP LOCKED`,
}
const READ_ROOMS = {
  name: 'read-rooms',
  text: `
  SELECT id, capacity, held AS holders FROM gate WHERE id = ANY ($1::int[])`,
}
/** Only for gates this transaction has locked, so that nobody waits for another in a circle. */
const CHANGE_HELD = {
  name: 'change-held',
  text: `
  UPDATE gate SET held = held + item.change
    FROM unnest($1::int[], $2::int[]) AS item (id, change) WHERE gate.id = item.id`,
}
const LOOK_AT_GATES = {
  name: 'look-at-gates',
  text: `
  SELECT id, capacity, held AS holders,
         EXISTS (SELECT FROM blocked b WHERE b.gate_id = gate.id) AS "hasLine"
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
 * Whoever has a gate that we could not lock may have looked already at those who wait there, and seen
 * nobody. Who is sent there nevertheless (`$3`) is left to the next sweep, as one long overdue.
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
 * Lets runs pass the gates that were touched, as far as there is room. Everything is counted after
 * the gates are locked, by statements that see what was committed until then: an arrival and a
 * release that miss each other both come through here, and the later one sees both.
 * Gates in ascending order; `freed` names one for each place that somebody left there. Returns the
 * lanes that got runs.
 */
export async function admitAt(
  work: Work,
  touched: readonly number[],
  freed: readonly number[] = [],
): Promise<Set<number>> {
  if (touched.length === 0) return new Set()
  const locked = await lockAll(work, touched)
  changeHeld(work, { left: freed })
  return admitWithin(work, new Set(locked), locked)
}

/**
 * A run holds its gates while it is ready or under way, and at no other time. Whoever moves runs in or
 * out of there says so here, in the same transaction: one place at a gate each time it is named.
 */
export function changeHeld(
  work: Work,
  { taken = [], left = [] }: { taken?: readonly number[]; left?: readonly number[] },
): void {
  const changes = new Map<number, number>()
  for (const gate of taken) changes.set(gate, (changes.get(gate) ?? 0) + 1)
  for (const gate of left) changes.set(gate, (changes.get(gate) ?? 0) - 1)
  const rows = [...changes].filter(([, by]) => by !== 0)
  if (rows.length === 0) return
  const values = [ints(rows.map(([gate]) => gate)), ints(rows.map(([, by]) => by))]
  void reportedElsewhere(work.query(CHANGE_HELD, values))
}

/** In ascending order, as everybody does. */
export function lockAll(work: Work, gates: readonly number[]): Promise<number[]> {
  return lockGates(work, LOCK_GATES, gates)
}

/** As `admitAt`, for gates of which all in `locked` are ours already. */
export async function admitWithin(
  work: Work,
  locked: Set<number>,
  touched: readonly number[],
): Promise<Set<number>> {
  const lanes = new Set<number>()
  let open = [...touched]
  for (let round = 0; round < ROUNDS && open.length > 0; round += 1) {
    open = await lookOnce(work, open, locked, lanes)
  }
  return lanes
}

/** A gate's room, and whether somebody stands before it. */
export interface GateView extends GateRoom {
  readonly hasLine: boolean
}

/**
 * Locks gates, in ascending order, and looks at them. Both go out in one round trip: the second
 * statement begins when the first has its locks, and sees what was committed until then.
 */
export function lockAndLook(work: Work, gates: readonly number[]): Promise<GateView[]> {
  void reportedElsewhere(lockAll(work, gates))
  return work.query<GateView>(LOOK_AT_GATES, [ints(gates)])
}

/** One look at the front of each line. Returns the gates whose front may have left room behind. */
async function lookOnce(
  work: Work,
  gates: readonly number[],
  locked: Set<number>,
  lanes: Set<number>,
): Promise<number[]> {
  const rooms = await readRooms(work, [...locked])
  const open = rooms
    .filter(({ id, capacity, holders }) => gates.includes(id) && holders < capacity)
    .map(({ id, capacity, holders }) => ({
      id,
      wanted: Math.min(capacity - holders + SPARE, MOST_AT_A_GATE),
    }))
  if (open.length === 0) return []
  const waiting = await work.query<Waiting>(READ_CANDIDATES, [
    ints(open.map(({ id }) => id)),
    ints(open.map(({ wanted }) => wanted)),
  ])
  if (waiting.length === 0) return []

  rooms.push(...(await lockOthers(work, waiting, locked)))
  const admission = admit(waiting, rooms)
  const gateOf = new Map(waiting.map(({ runId, gateId }) => [runId, gateId]))
  const moved = admission.waiting.filter(({ runId, gate }) => gateOf.get(runId) !== gate)
  const gatesOf = new Map(waiting.map(({ runId, gates }) => [runId, gates]))
  const taken = admission.admitted.flatMap((runId) => gatesOf.get(runId) ?? [])
  changeHeld(work, { taken })
  const [passed] = await Promise.all([pass(work, admission.admitted), waitAt(work, moved, locked)])
  for (const lane of passed) lanes.add(lane)

  const byGate = Map.groupBy(waiting, ({ gateId }) => gateId)
  return open.filter(({ id, wanted }) => byGate.get(id)?.length === wanted).map(({ id }) => id)
}

/** The other gates these runs need, as far as they can be had without waiting. */
async function lockOthers(
  work: Work,
  waiting: readonly Waiting[],
  locked: Set<number>,
): Promise<GateRoom[]> {
  const others = new Set(waiting.flatMap(({ gates }) => gates).filter((gate) => !locked.has(gate)))
  if (others.size === 0) return []
  const gained = await lockGates(work, TRY_GATES, [...others])
  for (const gate of gained) locked.add(gate)
  return readRooms(work, gained)
}

async function lockGates(
  work: Work,
  statement: typeof LOCK_GATES,
  gates: readonly number[],
): Promise<number[]> {
  const rows = await work.query<{ id: number }>(statement, [ints(gates)])
  return rows.map(({ id }) => id)
}

async function readRooms(work: Work, gates: readonly number[]): Promise<GateRoom[]> {
  return gates.length === 0 ? [] : work.query<GateRoom>(READ_ROOMS, [ints(gates)])
}

async function pass(work: Work, runs: readonly number[]): Promise<number[]> {
  if (runs.length === 0) return []
  const rows = await work.query<{ laneId: number }>(PASS, [bigints(runs)])
  return rows.map(({ laneId }) => laneId)
}

async function waitAt(
  work: Work,
  moved: readonly { runId: number; gate: number }[],
  locked: ReadonlySet<number>,
): Promise<void> {
  if (moved.length === 0) return
  const unseen = moved.filter(({ gate }) => !locked.has(gate))
  await work.query(WAIT_AT, [
    bigints(moved.map(({ runId }) => runId)),
    ints(moved.map(({ gate }) => gate)),
    bigints(unseen.map(({ runId }) => runId)),
  ])
}
