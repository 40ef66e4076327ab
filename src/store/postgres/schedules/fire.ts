import { canFireEarly } from '../../../core/schedule/firing/early-firing.ts'
import { CLOCK_TOLERANCE_MS } from '../../../core/trusted-clock.ts'
import { isAheadOfClock, remainingMs, outdatedResult, effectiveFireTime } from '../../fire-ahead.ts'
import type {
  Expectation,
  FireBatch,
  FireCommand,
  FireResult,
  FireVerdict,
  NewRun,
} from '../../port.ts'
import { settle, type Settlement } from '../../../core/schedule/firing/settle-schedule.ts'
import { addOccurrences } from './add-occurrences.ts'
import { bigints, texts } from '../connection/binary-arrays.ts'
import { cancelRuns } from '../ticks/cancel.ts'
import type { Database } from '../database/database.ts'
import { admitWaiting, type GateAdmission, decideAdmission } from '../gates/admit-new-runs.ts'
import { addExpectations } from '../expectations/expectations.ts'
import { emitSignals } from '../signals/emit-signals.ts'
import { recordOutboxEvents } from '../webhooks/outbox.ts'
import {
  CLOCK,
  type StatementClock,
  statementTimeAt,
  WALL,
  type Queryable,
} from '../connection/statement.ts'
import { insertRuns, type InsertResult } from '../ticks/submit.ts'
import { mono } from '../connection/system-clock.ts'
import { transact } from '../connection/transaction.ts'

/**
 * Never waits: another transaction is firing or changing a locked row, and either makes this command
 * outdated. The clock is read after the locks are taken, in the same statement.
 */
export const LOCK_SCHEDULES = {
  name: 'lock-schedules',
  text: `
  SELECT locked.*, ${WALL} AS "clockNow"
    FROM unnest($1::bigint[]) AS item (id)
   CROSS JOIN LATERAL (
     SELECT n.schedule_id AS id, n.version, n.nominal_at AS "nextNominalAt", n.look_at AS "checkAt",
            n.last_nominal_at AS "lastNominalAt", n.open_runs AS "openRuns"
       FROM schedule_next n WHERE n.schedule_id = item.id
        FOR UPDATE SKIP LOCKED) locked`,
}
const READ_SCHEDULES = {
  name: 'about-schedules',
  text: `
  SELECT s.id, s.project_id AS "projectId",
         s.paused_at IS NOT NULL OR s.error IS NOT NULL AS "isMarked",
         s.paused_at IS NOT NULL AND s.resumed_at IS NULL AS "isPaused"
    FROM unnest($1::bigint[]) AS item (id)
   CROSS JOIN LATERAL (SELECT * FROM schedule WHERE schedule.id = item.id LIMIT 1) s`,
}
const READ_CLOCK = { name: 'read-clock-to-fire', text: `WITH ${CLOCK} SELECT now FROM clock` }
/** Of these runs, those that exist and have not ended. */
export const OPEN_RUNS = {
  name: 'open-runs',
  text: `
  SELECT item.id FROM unnest($1::bigint[]) AS item (id)
   CROSS JOIN LATERAL (SELECT id FROM run WHERE run.id = item.id LIMIT 1) there
    LEFT JOIN LATERAL (
      SELECT run_id FROM run_end e WHERE e.run_id = item.id LIMIT 1) ended ON true
   WHERE ended.run_id IS NULL`,
}
export const ADVANCE_SCHEDULES = {
  name: 'advance-schedules',
  text: `
  UPDATE schedule_next n
     SET nominal_at = item.nominal_at, look_at = item.look_at,
         last_nominal_at = coalesce(item.last, n.last_nominal_at),
         open_runs = item.open_runs::bigint[]
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[])
      AS item (id, nominal_at, look_at, last, open_runs)
   WHERE n.schedule_id = item.id`,
}
/** Firing also clears the pause and the error. */
const UNMARK = {
  name: 'unmark-schedules',
  text: `
  UPDATE schedule s
     SET paused_at = NULL, paused_until = NULL, paused_reason = NULL, paused_by_job = false,
         resumed_at = NULL, error = NULL
   WHERE s.id = ANY ($1::bigint[])`,
}

interface LockedNext {
  readonly id: number
  readonly version: number
  readonly nextNominalAt: number | null
  readonly checkAt: number | null
  readonly lastNominalAt: number | null
  readonly openRuns: number[] | null
}

interface ScheduleFacts {
  readonly id: number
  readonly projectId: number
  readonly isMarked: boolean
  readonly isPaused: boolean
}

interface Fired extends Settlement<NewRun, Expectation> {
  readonly command: FireCommand
  readonly projectId: number
  readonly isMarked: boolean
}

interface FireContext {
  readonly node: number
  readonly now: number
  /** For statements that would read the clock themselves: null lets them. */
  readonly clock: number | null
  readonly isAhead: boolean
}

const LOST: FireVerdict = { kind: 'lost' }
const EARLY: FireVerdict = { kind: 'early' }

export async function fire(db: Database, batch: FireBatch): Promise<FireResult> {
  const runIds = batch.commands.flatMap(({ settled }) =>
    settled.flatMap((time) => (time.kind === 'run' ? time.run.id : [])),
  )
  await db.weeks.ensure(runIds)
  let heardMono = 0
  const onClock = () => (heardMono = mono())
  const fired = await transact(db.duty, (tx) =>
    fireIn(tx, db.now(), { ...batch, testWall: db.testWall(), expectedNow: db.now }, onClock),
  )
  if (fired.aheadMs === 0) return fired
  // Counted from when the answer with the time arrived: late by the network delay, and never early.
  const clock = db.testWall() ?? fired.now - fired.aheadMs + (mono() - heardMono)
  return { ...fired, aheadMs: remainingMs(fired, clock) }
}

async function fireIn(
  tx: Queryable,
  testNow: StatementClock,
  batch: FireBatch & { readonly testWall: number | null; expectedNow(): StatementClock },
  onClock: () => void,
): Promise<FireResult> {
  const { node, validFrom, validUntil, commands } = batch
  const ids = [...new Set(commands.map(({ id }) => id))].toSorted((a, b) => a - b)
  const rows = await tx.query<LockedNext & { clockNow: number }>(LOCK_SCHEDULES, [bigints(ids)])
  // From the last row: it was read when all the others were locked.
  const wall = batch.testWall ?? rows.at(-1)?.clockNow ?? (await readClockIn(tx))
  // What the node expects by now: the batch may have waited for the connection.
  const trusted = statementTimeAt(batch.expectedNow(), wall)
  const lockedAt = batch.isClockOff ? trusted : wall
  onClock()
  const now = effectiveFireTime(batch, lockedAt)
  const isAhead = now > lockedAt
  const aheadMs = now - lockedAt
  const isOff = Math.abs(trusted - wall) > CLOCK_TOLERANCE_MS && !batch.isClockOff
  if (isOff || now < validFrom || now > validUntil)
    return { ...outdatedResult(batch, now), aheadMs }
  const locked = new Map(rows.map((row) => [row.id, row]))
  const taken = new Map<FireCommand, LockedNext>()
  const verdicts = commands.map((command): FireVerdict | null => {
    const row = locked.get(command.id)
    if (!row || !isAsExpected(row, command)) return LOST
    if (row.checkAt === null) return LOST
    if (isEarly(row, now) || isAheadOfClock(command, now)) return EARLY
    if (isAhead && !canFireEarly(command)) return EARLY
    // One statement cannot update a row twice: of two commands for one schedule the first counts.
    locked.delete(command.id)
    taken.set(command, row)
    return null
  })
  if (taken.size === 0) {
    const none = { started: [], lanes: [], cancelled: [] }
    return { now, aheadMs, verdicts: verdicts.map((one) => one ?? LOST), ...none }
  }
  const fired = await decide(tx, taken, { now, isAhead })
  const asOf = { node, now, clock: isAhead ? now : testNow, isAhead }
  const written = await write(tx, asOf, fired)
  return {
    now,
    aheadMs,
    verdicts: verdicts.map((verdict, index) => {
      const done = fired.get(commands[index] as FireCommand)
      if (verdict || !done) return verdict ?? EARLY
      return { kind: 'done', outcomes: done.outcomes, openRuns: done.openRuns }
    }),
    ...written,
  }
}

/** A schedule that only waits for its run to end may advance at any time. */
function isEarly({ nextNominalAt, checkAt }: LockedNext, now: number): boolean {
  return nextNominalAt !== null && checkAt !== null && checkAt > now
}

/**
 * A time at or before the last one would fire a second time, whatever the row says is next. So
 * would the next one: another node may have seen the followed run end earlier.
 */
function isAsExpected(
  row: LockedNext,
  { version, nominalAt, settled, next }: FireCommand,
): boolean {
  const first = settled[0]?.nominalAt ?? next.nominalAt
  const isNew = first === null || row.lastNominalAt === null || first > row.lastNominalAt
  return row.version === version && row.nextNominalAt === nominalAt && isNew
}

async function readClockIn(tx: Queryable): Promise<number> {
  const [row] = await tx.query<{ now: number }>(READ_CLOCK, [null])
  return row!.now
}

/**
 * The rows are locked, so no other firing can change the overlap. But a run may end before the time
 * comes, and the new run must then not wait for it at its gate: ahead of time, commands that meet
 * an open run are left out.
 */
async function decide(
  tx: Queryable,
  taken: ReadonlyMap<FireCommand, LockedNext>,
  { now, isAhead }: { now: number; isAhead: boolean },
): Promise<Map<FireCommand, Fired>> {
  const known = [...taken.values()].flatMap(({ openRuns }) => openRuns ?? [])
  const ids = [...taken.keys()].map(({ id }) => id)
  const [about, open] = await Promise.all([
    tx.query<ScheduleFacts>(READ_SCHEDULES, [bigints(ids)]),
    known.length > 0 ? tx.query<{ id: number }>(OPEN_RUNS, [bigints(known)]) : [],
  ])
  const facts = new Map(about.map((row) => [row.id, row]))
  const isOpen = new Set(open.map(({ id }) => id))
  const fired = new Map<FireCommand, Fired>()
  for (const [command, { openRuns, checkAt }] of taken) {
    const still = (openRuns ?? []).filter((runId) => isOpen.has(runId))
    if (isAhead && still.length > 0) continue
    const { projectId, isMarked, isPaused } = facts.get(command.id)!
    // A schedule does not advance out of a pause, even if it only waits for its run to end.
    if (isPaused && checkAt !== null && checkAt > now) continue
    fired.set(command, { ...settle(command, still, now), command, projectId, isMarked })
  }
  return fired
}

/**
 * Ahead of time, a command whose runs do not pass their gates at once is taken out of `all`:
 * nothing of it is written.
 */
async function write(
  tx: Queryable,
  { node, now, clock, isAhead }: FireContext,
  all: Map<FireCommand, Fired>,
): Promise<Pick<FireResult, 'started' | 'lanes' | 'cancelled'>> {
  const ahead = isAhead ? await enterAhead(tx, now, all) : null
  const fired = [...all.values()]
  const runs = runsOf(fired)
  const replaced = fired
    .flatMap((one) => one.replaced.map((runId) => ({ runId, projectId: one.projectId })))
    .toSorted((a, b) => a.runId - b.runId)
  const occurrences = fired.flatMap(({ command, projectId, occurrences: list }) =>
    list.map((one) => ({ ...one, scheduleId: command.id, version: command.version, projectId })),
  )
  const expected = fired.flatMap((one) => one.expected)
  const writing = [
    addOccurrences(tx, now, occurrences),
    advanceSchedules(tx, fired),
    addExpectations(tx, expected),
  ]
  const cancels = replaced.length > 0 ? await cancelRuns(tx, clock, replaced) : null
  const cancelled = replaced.map(({ runId }) => runId)
  if (cancels) {
    writing.push(recordOutboxEvents(tx, clock, cancelled).then(() => {}))
    writing.push(emitSignals(tx, clock, cancelled).then(() => {}))
  }
  // Their times have come: the row is locked, and was checked by the same clock.
  const admission = ahead ?? (await decideAdmission(tx, now, due(runs), cancels?.gates ?? []))
  const assumeNew = true
  if (runs.length > 0)
    writing.push(inserted(insertRuns(tx, clock, node, runs, { assumeNew, admission })))
  await Promise.all(writing)
  const admitted = await admitWaiting(tx, admission)
  const passing = runs.filter(({ id, gates }) => gates.length === 0 || admission.passes.has(id))
  const started = passing.filter(({ reservation }) => reservation).map(({ id }) => id)
  const ready = passing.filter(({ reservation }) => !reservation).map(({ laneId }) => laneId)
  const lanes = [...new Set([...ready, ...admitted])].toSorted((a, b) => a - b)
  return { started, lanes, cancelled }
}

async function enterAhead(
  tx: Queryable,
  now: number,
  all: Map<FireCommand, Fired>,
): Promise<GateAdmission> {
  const admission = await decideAdmission(tx, now, due(runsOf([...all.values()])), [])
  for (const [command, { runs }] of all) {
    const hasToWait = runs.some(({ id, gates }) => gates.length > 0 && !admission.passes.has(id))
    if (hasToWait) all.delete(command)
  }
  return admission
}

function runsOf(fired: readonly Fired[]): NewRun[] {
  return fired.flatMap((one) => one.runs).toSorted((a, b) => a.id - b.id)
}

function due(runs: readonly NewRun[]): NewRun[] {
  return runs.map((run) => ({ ...run, dueAt: null }))
}

async function inserted(submission: Promise<InsertResult>): Promise<void> {
  await submission
}

async function advanceSchedules(tx: Queryable, fired: readonly Fired[]): Promise<void> {
  const moving = tx.query(ADVANCE_SCHEDULES, [
    bigints(fired.map(({ command }) => command.id)),
    bigints(fired.map(({ command }) => command.next.nominalAt)),
    bigints(fired.map(({ command }) => command.next.checkAt)),
    bigints(fired.map(({ occurrences }) => occurrences.at(-1)?.untilAt ?? null)),
    texts(fired.map(({ openRuns }) => (openRuns.length > 0 ? `{${openRuns.join()}}` : null))),
  ])
  const marked = fired.filter(({ isMarked }) => isMarked)
  if (marked.length > 0) {
    await tx.query(UNMARK, [bigints(marked.map(({ command }) => command.id))])
  }
  await moving
}
