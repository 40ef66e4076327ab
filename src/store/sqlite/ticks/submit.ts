import type { Database, Statement } from 'better-sqlite3'
import { STATE_CODE } from '../../../core/run/run-state.ts'
import { isPlainAtGates, startsAfter } from '../../plain-runs.ts'
import type { NewRun, SubmitVerdict } from '../../port.ts'
import { FIRST_RECHECK_MS, type Gates } from '../gates/admit.ts'
import { prepareBulk } from '../connection/bulk.ts'
import type { Keys } from './submit-keys.ts'
import { NEEDS_RECHECK_MS, type Needs } from './needs.ts'
import { createKinds, type Kind, sharedBy } from './run-groups.ts'
import { noteTimer, type TickState } from '../tick-state/tick-state.ts'

export const INSERT_RUN = `
  INSERT INTO run (id, status, project_id, job_id, lane_id, rank, pos, minted_by, created_at,
                   claim_no, fence, node, session, due_at, timer_at, gate_id, recheck_at, started_at,
                   timeout_ms, retry_of, version, created_by, gates, dedupe_key, policy, work, tags, input)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO NOTHING`

/**
 * Most runs ask for nothing special, and come many to a job. What those of one job share (all but
 * their lanes, of which a job may have many) is bound once per statement: binding a value costs as
 * much as writing it, even a null. Schedules that fire together share their time as well.
 */
const SHARED = `project_id, job_id, rank, due_at, timeout_ms, policy, version, created_by, minted_by, created_at`
export const insertReady = (rows: string) => `
  INSERT INTO run (status, ${SHARED}, id, pos, lane_id, input)
  SELECT 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, column1, column1, column2, column3 FROM (${rows}) WHERE true
  ON CONFLICT (id) DO NOTHING`
export const insertLeased = (rows: string) => `
  INSERT INTO run (status, claim_no, ${SHARED}, node, started_at,
                   id, pos, lane_id, input, fence, session)
  SELECT 1, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, column1, column1, column2, column3, column4, column5
    FROM (${rows}) WHERE true
  ON CONFLICT (id) DO NOTHING`
/** The same for runs that hold gates: the last column says which. */
export const insertReadyHolding = (rows: string) => `
  INSERT INTO run (status, ${SHARED}, id, pos, lane_id, input, gates)
  SELECT 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, column1, column1, column2, column3, column4
    FROM (${rows}) WHERE true
  ON CONFLICT (id) DO NOTHING`
export const insertLeasedHolding = (rows: string) => `
  INSERT INTO run (status, claim_no, ${SHARED}, node, started_at,
                   id, pos, lane_id, input, fence, session, gates)
  SELECT 1, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
         column1, column1, column2, column3, column4, column5, column6
    FROM (${rows}) WHERE true
  ON CONFLICT (id) DO NOTHING`
/** And for runs that have to wait: the last column is the gate they stand at. */
export const insertBlocked = (rows: string) => `
  INSERT INTO run (status, ${SHARED}, recheck_at, id, pos, lane_id, input, gates, gate_id)
  SELECT 3, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, column1, column1, column2, column3, column4, column5
    FROM (${rows}) WHERE true
  ON CONFLICT (id) DO NOTHING`

export const MINTED_BY = `SELECT minted_by FROM run WHERE id = ?`

const INSERTED: SubmitVerdict = { kind: 'inserted' }
const GATED: SubmitVerdict = { kind: 'gated' }

/**
 * With `mayEnter`, runs that find room and no line at their gates pass at once, in the order given:
 * that of the line, so that nobody is overtaken.
 */
export type Submits = (
  runs: readonly NewRun[],
  tick: TickState,
  mayEnter: boolean,
) => SubmitVerdict[]

export function prepareSubmits(
  db: Database,
  { gates, keys, needs }: { gates: Gates; keys: Keys; needs: Needs },
): Submits {
  const insert = db.prepare<unknown[]>(INSERT_RUN)
  const mintedBy = db.prepare<[number], number>(MINTED_BY).pluck()
  const bulkReady = prepareBulk(db, 3, insertReady)
  const bulkLeased = prepareBulk(db, 5, insertLeased)
  const bulkReadyHolding = prepareBulk(db, 4, insertReadyHolding)
  const bulkLeasedHolding = prepareBulk(db, 6, insertLeasedHolding)
  const bulkBlocked = prepareBulk(db, 5, insertBlocked)

  const submit = (run: NewRun, tick: TickState, mayEnter: boolean): SubmitVerdict => {
    const unknown = tick.unknown.get(run.id)
    if (unknown !== undefined) return { kind: 'unknown', id: unknown }
    const isFollower = startsAfter(run)
    if (run.idempotency !== null || run.dedupeKey !== null) {
      // A repeat of this very run meets its own keys: that is not a duplicate.
      if (mintedBy.get(run.id) === tick.node) return { kind: 'exists' }
      const earlier = keys.find(run, tick.now)
      if (earlier) return earlier
    }
    const enters = mayEnter && !isFollower && !isLater(run, tick) && gates.enter(run.gates, tick)
    if (!insertAny(insert, run, tick, enters)) {
      if (enters) gates.turnBack(run.gates, tick)
      return { kind: mintedBy.get(run.id) === tick.node ? 'exists' : 'collision' }
    }
    keys.take(run)
    if (isFollower) {
      needs.take(run, tick)
      return GATED
    }
    if (run.handOff && run.dedupeKey !== null) tick.holding.set(run.id, null)
    else if (run.handOff && enters) tick.holding.set(run.id, run.gates)
    return enters || run.gates.length === 0 || isLater(run, tick) ? INSERTED : GATED
  }

  const sort = (run: NewRun, kind: Kind, tick: TickState, mayEnter: boolean): SubmitVerdict => {
    const { id, laneId, input, handOff } = run
    const [first] = run.gates
    if (first === undefined) {
      if (handOff) kind.leased.push(id, laneId, input, handOff.fence, handOff.session)
      else kind.ready.push(id, laneId, input)
      return INSERTED
    }
    const stored = storedGates(run.gates)
    if (!mayEnter || !gates.enter(run.gates, tick)) {
      kind.blocked.push(id, laneId, input, stored, first)
      tick.touched.add(first)
      return GATED
    }
    if (handOff) {
      kind.leasedHolding.push(id, laneId, input, handOff.fence, handOff.session, stored)
      tick.holding.set(id, run.gates)
    } else kind.readyHolding.push(id, laneId, input, stored)
    return INSERTED
  }

  const submitInBulk = (runs: readonly NewRun[], tick: TickState, mayEnter: boolean) => {
    const kinds = createKinds()
    const verdicts = runs.map((run) =>
      isPlainAtGates(run, tick.now)
        ? sort(run, kinds.of(run), tick, mayEnter)
        : submit(run, tick, mayEnter),
    )
    const { now, node } = tick
    for (const kind of kinds.all()) {
      const shared = [...sharedBy(kind.model), node, now]
      bulkReady(shared, kind.ready)
      bulkLeased([...shared, node, now], kind.leased)
      bulkReadyHolding(shared, kind.readyHolding)
      bulkLeasedHolding([...shared, node, now], kind.leasedHolding)
      bulkBlocked([...shared, now + FIRST_RECHECK_MS], kind.blocked)
    }
    return verdicts
  }

  return (runs, tick, mayEnter) =>
    tick.inBulk
      ? submitInBulk(runs, tick, mayEnter)
      : runs.map((run) => submit(run, tick, mayEnter))
}

/** Who is in front passes gates first. */
export function byRankAndId(a: NewRun, b: NewRun): number {
  return a.rank - b.rank || a.id - b.id
}

/** As JSON; most have one, and that is quicker written by hand. */
function storedGates(gates: readonly number[]): string {
  return gates.length === 1 ? `[${gates[0]}]` : JSON.stringify(gates)
}

function isLater({ dueAt }: NewRun, { now }: TickState): boolean {
  return dueAt !== null && dueAt > now
}

function insertAny(
  insert: Statement<unknown[]>,
  run: NewRun,
  tick: TickState,
  enters: boolean,
): boolean {
  const { now } = tick
  const isFollower = startsAfter(run)
  const timerAt = !isFollower && run.dueAt !== null && run.dueAt > now ? run.dueAt : null
  const gate = !isFollower && timerAt === null && !enters ? (run.gates[0] ?? null) : null
  const isBlocked = isFollower || gate !== null
  const handOff = timerAt === null && !isBlocked ? run.handOff : null
  const recheckMs = isFollower ? NEEDS_RECHECK_MS : FIRST_RECHECK_MS
  const { changes } = insert.run(
    run.id,
    statusOf(timerAt, isBlocked, handOff),
    run.projectId,
    run.jobId,
    run.laneId,
    run.rank,
    run.id,
    tick.node,
    now,
    handOff ? 1 : 0,
    handOff ? handOff.fence : null,
    handOff ? tick.node : null,
    handOff ? handOff.session : null,
    run.dueAt,
    timerAt,
    gate,
    isBlocked ? now + recheckMs : null,
    handOff ? now : null,
    run.timeoutMs,
    run.retryOf,
    run.version,
    run.createdBy,
    run.gates.length > 0 ? JSON.stringify(run.gates) : null,
    run.dedupeKey,
    run.policy,
    run.work,
    run.tags,
    run.input,
  )
  if (changes === 0) return false
  if (timerAt !== null) noteTimer(tick, timerAt)
  if (gate !== null) tick.touched.add(gate)
  return true
}

function statusOf(timerAt: number | null, isBlocked: boolean, handOff: NewRun['handOff']): number {
  if (timerAt !== null) return STATE_CODE.scheduled
  if (isBlocked) return STATE_CODE.blocked
  return handOff ? STATE_CODE.running : STATE_CODE.ready
}
