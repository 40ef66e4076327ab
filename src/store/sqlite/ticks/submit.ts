import type { Database, Statement } from 'better-sqlite3'
import { STATE_CODE } from '../../../core/run/run-state.ts'
import { hasNoOptionsButGates, startsAfter } from '../../run-options.ts'
import { type NewRun, StoreError, type SubmitVerdict } from '../../port.ts'
import { FIRST_RECHECK_MS, type Gates } from '../gates/admit.ts'
import { type Bulk, prepareBulk } from '../connection/bulk.ts'
import type { Keys } from './submit-keys.ts'
import { NEEDS_RECHECK_MS, type Needs } from './needs.ts'
import { prepareRunTags } from '../runs/run-tags.ts'
import { createRunGroups, type RunGroup, sharedBy } from './run-groups.ts'
import { trackNextDue, type TickState } from '../tick-state/tick-state.ts'

/** All columns that a new run may have, in the order of `insertAny`. */
const COLUMNS = [
  'id',
  'status',
  'project_id',
  'job_id',
  'lane_id',
  'rank',
  'pos',
  'minted_by',
  'created_at',
  'claim_no',
  'fence',
  'node',
  'session',
  'due_at',
  'timer_at',
  'gate_id',
  'recheck_at',
  'started_at',
  'timeout_ms',
  'retry_of',
  'version',
  'created_by',
  'gates',
  'dedupe_key',
  'policy',
  'work',
  'tags',
  'input',
]
export const INSERT_RUN = `
  INSERT INTO run (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map(() => '?').join(', ')})
  ON CONFLICT (id) DO NOTHING`

/**
 * Most runs have no options, and many come from one job. What the runs of one job share (all but
 * their lanes, of which a job may have many) is bound once per statement: binding a value costs as
 * much as writing it, even a null. Schedules that fire together share their time as well.
 */
const SHARED_COLUMNS = [
  'project_id',
  'job_id',
  'rank',
  'due_at',
  'timeout_ms',
  'policy',
  'version',
  'created_by',
  'minted_by',
  'created_at',
]

interface GroupInsert {
  /** Columns with the same value in every run. */
  readonly fixed: Readonly<Record<string, number>>
  /** Columns that the runs of one statement share, besides `SHARED_COLUMNS`. */
  readonly shared?: readonly string[]
  /** Columns of each run, after its id, which is its position as well. */
  readonly ofRun: readonly string[]
}

/** Prepares the insertion of runs of one group into one state. */
function prepareGroupInsert(db: Database, { fixed, shared = [], ofRun }: GroupInsert): Bulk {
  const bound = [...SHARED_COLUMNS, ...shared]
  const columns = [...Object.keys(fixed), ...bound, 'id', 'pos', ...ofRun]
  const values = [
    ...Object.values(fixed),
    ...bound.map(() => '?'),
    'column1',
    'column1',
    ...ofRun.map((_, index) => `column${index + 2}`),
  ]
  return prepareBulk(
    db,
    1 + ofRun.length,
    (rows) => `
  INSERT INTO run (${columns.join(', ')}) SELECT ${values.join(', ')} FROM (${rows}) WHERE true
  ON CONFLICT (id) DO NOTHING`,
  )
}

const READY: GroupInsert = { fixed: { status: STATE_CODE.ready }, ofRun: ['lane_id', 'input'] }
const LEASED: GroupInsert = {
  fixed: { status: STATE_CODE.running, claim_no: 1 },
  shared: ['node', 'started_at'],
  ofRun: ['lane_id', 'input', 'fence', 'session'],
}
/** The same for runs that hold gates. */
const READY_GATED: GroupInsert = { ...READY, ofRun: [...READY.ofRun, 'gates'] }
const LEASED_GATED: GroupInsert = { ...LEASED, ofRun: [...LEASED.ofRun, 'gates'] }
/** For runs that wait at the gate `gate_id`. */
const BLOCKED: GroupInsert = {
  fixed: { status: STATE_CODE.blocked },
  shared: ['recheck_at'],
  ofRun: ['lane_id', 'input', 'gates', 'gate_id'],
}

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

  const submitInBulk = prepareBulkSubmits(db, gates, submit)

  return (runs, tick, mayEnter) =>
    tick.inBulk
      ? submitInBulk(runs, tick, mayEnter)
      : runs.map((run) => submit(run, tick, mayEnter))
}

/** Inserts runs with at most gates by groups, many at a time, and the others one by one. */
function prepareBulkSubmits(
  db: Database,
  gates: Gates,
  submit: (run: NewRun, tick: TickState, mayEnter: boolean) => SubmitVerdict,
): Submits {
  const insertReady = prepareGroupInsert(db, READY)
  const insertLeased = prepareGroupInsert(db, LEASED)
  const insertReadyGated = prepareGroupInsert(db, READY_GATED)
  const insertLeasedGated = prepareGroupInsert(db, LEASED_GATED)
  const insertBlocked = prepareGroupInsert(db, BLOCKED)

  const addToGroup = (
    run: NewRun,
    group: RunGroup,
    tick: TickState,
    mayEnter: boolean,
  ): SubmitVerdict => {
    const { id, laneId, input, reservation } = run
    const [first] = run.gates
    if (first === undefined) {
      if (reservation) group.leased.push(id, laneId, input, reservation.fence, reservation.session)
      else group.ready.push(id, laneId, input)
      return INSERTED
    }
    const stored = storedGates(run.gates)
    if (!mayEnter || !gates.enter(run.gates, tick)) {
      group.blocked.push(id, laneId, input, stored, first)
      tick.touched.add(first)
      return GATED
    }
    if (reservation) {
      group.leasedGated.push(id, laneId, input, reservation.fence, reservation.session, stored)
      tick.gatedRuns.set(id, run.gates)
    } else group.readyGated.push(id, laneId, input, stored)
    return INSERTED
  }

  return (runs, tick, mayEnter) => {
    const groups = createRunGroups()
    const verdicts = runs.map((run) =>
      hasNoOptionsButGates(run, tick.now)
        ? addToGroup(run, groups.of(run), tick, mayEnter)
        : submit(run, tick, mayEnter),
    )
    const { now, node } = tick
    for (const group of groups.all()) {
      const shared = [...sharedBy(group.model), node, now]
      insertReady(shared, group.ready)
      insertLeased([...shared, node, now], group.leased)
      insertReadyGated(shared, group.readyGated)
      insertLeasedGated([...shared, node, now], group.leasedGated)
      insertBlocked([...shared, now + FIRST_RECHECK_MS], group.blocked)
    }
    return verdicts
  }
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
