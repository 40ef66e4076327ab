import type { Database, Statement } from 'better-sqlite3'
import { STATE_CODE } from '../../../core/run/run-state.ts'
import { hasNoOptionsButGates, startsAfter } from '../../run-options.ts'
import { type NewRun, StoreError, type SubmitVerdict } from '../../port.ts'
import { FIRST_RECHECK_MS, type Gates } from '../gates/admit.ts'
import { prepareBulk } from '../connection/bulk.ts'
import type { Keys } from './submit-keys.ts'
import { NEEDS_RECHECK_MS, type Needs } from './needs.ts'
import { prepareRunTags } from '../runs/run-tags.ts'
import { createRunGroups, type RunGroup, sharedBy } from './run-groups.ts'
import { trackNextDue, type TickState } from '../tick-state/tick-state.ts'

export const INSERT_RUN = `
  INSERT INTO run (id, status, project_id, job_id, lane_id, rank, pos, minted_by, created_at,
                   claim_no, fence, node, session, due_at, timer_at, gate_id, recheck_at, started_at,
                   timeout_ms, retry_of, version, created_by, gates, dedupe_key, policy, work, tags, input)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO NOTHING`

/**
 * Most runs have no options, and many come from one job. What the runs of one job share (all but
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
/** The same for runs that hold gates, given in the last column. */
export const insertReadyGated = (rows: string) => `
  INSERT INTO run (status, ${SHARED}, id, pos, lane_id, input, gates)
  SELECT 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, column1, column1, column2, column3, column4
    FROM (${rows}) WHERE true
  ON CONFLICT (id) DO NOTHING`
export const insertLeasedGated = (rows: string) => `
  INSERT INTO run (status, claim_no, ${SHARED}, node, started_at,
                   id, pos, lane_id, input, fence, session, gates)
  SELECT 1, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
         column1, column1, column2, column3, column4, column5, column6
    FROM (${rows}) WHERE true
  ON CONFLICT (id) DO NOTHING`
/** The same for blocked runs: the last column is the gate they wait at. */
export const insertBlocked = (rows: string) => `
  INSERT INTO run (status, ${SHARED}, recheck_at, id, pos, lane_id, input, gates, gate_id)
  SELECT 3, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, column1, column1, column2, column3, column4, column5
    FROM (${rows}) WHERE true
  ON CONFLICT (id) DO NOTHING`

export const MINTED_BY = `SELECT minted_by FROM run WHERE id = ?`

const INSERTED: SubmitVerdict = { kind: 'inserted' }
const GATED: SubmitVerdict = { kind: 'gated' }

/**
 * With `mayEnter`, runs pass at once if their gates have free slots and nothing waits there. The
 * runs must be in queue order, so that none is overtaken.
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
  const runTags = prepareRunTags(db)
  const bulkReady = prepareBulk(db, 3, insertReady)
  const bulkLeased = prepareBulk(db, 5, insertLeased)
  const bulkReadyGated = prepareBulk(db, 4, insertReadyGated)
  const bulkLeasedGated = prepareBulk(db, 6, insertLeasedGated)
  const bulkBlocked = prepareBulk(db, 5, insertBlocked)

  const submit = (run: NewRun, tick: TickState, mayEnter: boolean): SubmitVerdict => {
    const unknown = tick.unknown.get(run.id)
    if (unknown !== undefined) return { kind: 'unknown', id: unknown }
    const isFollower = startsAfter(run)
    if (run.idempotency !== null || run.dedupeKey !== null) {
      // A repeat of this very run meets its own keys: that is not a duplicate.
      if (mintedBy.get(run.id) === tick.node) return { kind: 'exists' }
      const earlier = keys.find(run)
      if (earlier) return earlier
    }
    const enters = mayEnter && !isFollower && !isLater(run, tick) && gates.enter(run.gates, tick)
    if (!insertAny(insert, run, tick, enters)) {
      if (enters) gates.undoEnter(run.gates, tick)
      return { kind: mintedBy.get(run.id) === tick.node ? 'exists' : 'collision' }
    }
    keys.take(run)
    if (run.tags !== null) runTags.add(run)
    if (isFollower) {
      needs.take(run, tick)
      return GATED
    }
    if (run.reservation && run.dedupeKey !== null) tick.gatedRuns.set(run.id, null)
    else if (run.reservation && enters) tick.gatedRuns.set(run.id, run.gates)
    return enters || run.gates.length === 0 || isLater(run, tick) ? INSERTED : GATED
  }

  const sort = (run: NewRun, kind: RunGroup, tick: TickState, mayEnter: boolean): SubmitVerdict => {
    const { id, laneId, input, reservation } = run
    const [first] = run.gates
    if (first === undefined) {
      if (reservation) kind.leased.push(id, laneId, input, reservation.fence, reservation.session)
      else kind.ready.push(id, laneId, input)
      return INSERTED
    }
    const stored = storedGates(run.gates)
    if (!mayEnter || !gates.enter(run.gates, tick)) {
      kind.blocked.push(id, laneId, input, stored, first)
      tick.touched.add(first)
      return GATED
    }
    if (reservation) {
      kind.leasedGated.push(id, laneId, input, reservation.fence, reservation.session, stored)
      tick.gatedRuns.set(id, run.gates)
    } else kind.readyGated.push(id, laneId, input, stored)
    return INSERTED
  }

  const submitInBulk = (runs: readonly NewRun[], tick: TickState, mayEnter: boolean) => {
    const kinds = createRunGroups()
    const verdicts = runs.map((run) =>
      hasNoOptionsButGates(run, tick.now)
        ? sort(run, kinds.of(run), tick, mayEnter)
        : submit(run, tick, mayEnter),
    )
    const { now, node } = tick
    for (const kind of kinds.all()) {
      const shared = [...sharedBy(kind.model), node, now]
      bulkReady(shared, kind.ready)
      bulkLeased([...shared, node, now], kind.leased)
      bulkReadyGated(shared, kind.readyGated)
      bulkLeasedGated([...shared, node, now], kind.leasedGated)
      bulkBlocked([...shared, now + FIRST_RECHECK_MS], kind.blocked)
    }
    return verdicts
  }

  return (runs, tick, mayEnter) =>
    tick.inBulk
      ? submitInBulk(runs, tick, mayEnter)
      : runs.map((run) => submit(run, tick, mayEnter))
}

/**
 * Inserts runs that nothing but this transaction can have inserted. Returns those that were directly
 * assigned to a session.
 */
export function insertMinted(runs: readonly NewRun[], tick: TickState, submits: Submits): number[] {
  const verdicts = submits(runs, tick, true)
  const started: number[] = []
  for (const [index, { id, laneId, reservation }] of runs.entries()) {
    const kind = verdicts[index]?.kind
    if (kind === 'inserted' && reservation) started.push(id)
    else if (kind === 'inserted') tick.refilled.add(laneId)
    else if (kind !== 'gated') throw new StoreError('refused', `run ${id} already exists: ${kind}`)
  }
  return started
}

/** Runs at the front of the queue pass gates first. */
export function byRankAndId(a: NewRun, b: NewRun): number {
  return a.rank - b.rank || a.id - b.id
}

/** As JSON; most runs have one gate, which is faster to write by hand. */
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
  const reservation = timerAt === null && !isBlocked ? run.reservation : null
  const recheckMs = isFollower ? NEEDS_RECHECK_MS : FIRST_RECHECK_MS
  const { changes } = insert.run(
    run.id,
    statusOf(timerAt, isBlocked, reservation),
    run.projectId,
    run.jobId,
    run.laneId,
    run.rank,
    run.id,
    tick.node,
    now,
    reservation ? 1 : 0,
    reservation ? reservation.fence : null,
    reservation ? tick.node : null,
    reservation ? reservation.session : null,
    run.dueAt,
    timerAt,
    gate,
    isBlocked ? now + recheckMs : null,
    reservation ? now : null,
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
  if (timerAt !== null) trackNextDue(tick, timerAt)
  if (gate !== null) tick.touched.add(gate)
  return true
}

function statusOf(
  timerAt: number | null,
  isBlocked: boolean,
  reservation: NewRun['reservation'],
): number {
  if (timerAt !== null) return STATE_CODE.scheduled
  if (isBlocked) return STATE_CODE.blocked
  return reservation ? STATE_CODE.running : STATE_CODE.ready
}
