import { mayGoAhead } from '../../../core/schedule/firing/early-firing.ts'
import { isBeforeItsTime, leftMs, timeOfFiring } from '../../fire-ahead.ts'
import type { FireBatch, FireCommand, FireResult, FireVerdict, NewRun } from '../../port.ts'
import { settle, type Settlement } from '../../settle-schedule.ts'
import { addOccurrences } from './add-occurrences.ts'
import { bigints, texts } from '../connection/binary-arrays.ts'
import { cancelRuns } from '../ticks/cancel.ts'
import type { Database } from '../database/database.ts'
import { admitLines, type Entrance, openEntrance } from '../gates/admission.ts'
import { addExpectations } from '../expectations/expectations.ts'
import { tell } from '../signals/emit-signals.ts'
import { noteEnds } from '../webhooks/outbox.ts'
import { CLOCK, type Work } from '../connection/statement.ts'
import { insertRuns, type Submission } from '../ticks/submit.ts'
import { mono } from '../connection/system-clock.ts'
import { transact } from '../connection/transaction.ts'

/**
 * Nobody waits: a row that is locked is being fired or changed by somebody else, and is lost either
 * way. The clock is read after the locks are there, in the same statement.
 */
export const LOCK_SCHEDULES = {
  name: 'lock-schedules',
  text: `
  SELECT held.*, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS "clockNow"
    FROM unnest($1::bigint[]) AS item (id)
   CROSS JOIN LATERAL (
     SELECT n.schedule_id AS id, n.version, n.nominal_at AS "nextNominalAt", n.look_at AS "lookAt",
            n.last_nominal_at AS "lastNominalAt", n.open_runs AS "openRuns"
       FROM schedule_next n WHERE n.schedule_id = item.id
        FOR UPDATE SKIP LOCKED) held`,
}
const ABOUT_SCHEDULES = {
  name: 'about-schedules',
  text: `
  SELECT s.id, s.project_id AS "projectId",
         coalesce(s.skip_nominal_at, s.paused_at) IS NOT NULL OR s.error IS NOT NULL AS "isMarked",
         s.paused_at IS NOT NULL AND s.resumed_at IS NULL AS "isPaused"
    FROM unnest($1::bigint[]) AS item (id)
   CROSS JOIN LATERAL (SELECT * FROM schedule WHERE schedule.id = item.id LIMIT 1) s`,
}
const READ_CLOCK = { name: 'read-clock-to-fire', text: `WITH ${CLOCK} SELECT now FROM clock` }
/** Of these runs, those that are there and have not ended. */
export const OPEN_RUNS = {
  name: 'open-runs',
  text: `
  SELECT item.id FROM unnest($1::bigint[]) AS item (id)
   CROSS JOIN LATERAL (SELECT id FROM run WHERE run.id = item.id LIMIT 1) there
    LEFT JOIN LATERAL (
      SELECT run_id FROM run_end e WHERE e.run_id = item.id LIMIT 1) ended ON true
   WHERE ended.run_id IS NULL`,
}
export const MOVE_ON = {
  name: 'move-schedules-on',
  text: `
  UPDATE schedule_next n
     SET nominal_at = item.nominal_at, look_at = item.look_at,
         last_nominal_at = coalesce(item.last, n.last_nominal_at),
         open_runs = item.open_runs::bigint[]
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[])
      AS item (id, nominal_at, look_at, last, open_runs)
   WHERE n.schedule_id = item.id`,
}
/** Whatever kept it from firing is over: it has fired. */
const UNMARK = {
  name: 'unmark-schedules',
  text: `
  UPDATE schedule s
     SET skip_nominal_at = CASE WHEN skip_nominal_at >= item.nominal_at THEN skip_nominal_at END,
         paused_at = NULL, paused_until = NULL, paused_reason = NULL, paused_by_job = false,
         resumed_at = NULL, error = NULL
    FROM unnest($1::bigint[], $2::bigint[]) AS item (id, nominal_at)
   WHERE s.id = item.id`,
}

interface Held {
  readonly id: number
  readonly version: number
  readonly nextNominalAt: number | null
  readonly lookAt: number | null
  readonly lastNominalAt: number | null
  readonly openRuns: number[] | null
}

interface About {
  readonly id: number
  readonly projectId: number
  readonly isMarked: boolean
  readonly isPaused: boolean
}

interface Fired extends Settlement {
  readonly command: FireCommand
  readonly projectId: number
  readonly isMarked: boolean
}

interface AsOf {
  readonly node: number
  readonly now: number
  /** For statements that would look at the clock themselves: null lets them. */
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
  const fired = await transact(db.duty, (work) => fireIn(work, db.now(), batch, onClock))
  if (fired.aheadMs === 0) return fired
  // Counted from when the answer came that said what time it is: that is late by its way, and never early.
  const clock = db.now() ?? fired.now - fired.aheadMs + (mono() - heardMono)
  return { ...fired, aheadMs: leftMs(fired, clock) }
}

async function fireIn(
  work: Work,
  testNow: number | null,
  batch: FireBatch,
  onClock: () => void,
): Promise<FireResult> {
  const { node, validFrom, validUntil, commands } = batch
  const ids = [...new Set(commands.map(({ id }) => id))].toSorted((a, b) => a - b)
  const rows = await work.query<Held & { clockNow: number }>(LOCK_SCHEDULES, [bigints(ids)])
  // Of the last row: it was read when all the others were locked.
  const lockedAt = testNow ?? rows.at(-1)?.clockNow ?? (await readClockIn(work))
  onClock()
  const now = timeOfFiring(batch, lockedAt)
  const isAhead = now > lockedAt
  const aheadMs = now - lockedAt
  if (now < validFrom || now > validUntil) {
    const verdicts = commands.map((): FireVerdict => ({ kind: 'outdated' }))
    return { now, aheadMs, verdicts, started: [], lanes: [], cancelled: [] }
  }
  const held = new Map(rows.map((row) => [row.id, row]))
  const taken = new Map<FireCommand, Held>()
  const verdicts = commands.map((command): FireVerdict | null => {
    const row = held.get(command.id)
    if (!row || !isAsExpected(row, command)) return LOST
    if (row.lookAt === null) return LOST
    if (isEarly(row, now) || isBeforeItsTime(command, now)) return EARLY
    if (isAhead && !mayGoAhead(command)) return EARLY
    // One statement cannot do the same thing to a row twice: of two commands the first counts.
    held.delete(command.id)
    taken.set(command, row)
    return null
  })
  if (taken.size === 0) {
    const none = { started: [], lanes: [], cancelled: [] }
    return { now, aheadMs, verdicts: verdicts.map((one) => one ?? LOST), ...none }
  }
  const fired = await decide(work, taken, { now, isAhead })
  const asOf = { node, now, clock: isAhead ? now : testNow, isAhead }
  const written = await write(work, asOf, fired)
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

/** One that only waits for its run to end may be moved on whenever that was seen. */
function isEarly({ nextNominalAt, lookAt }: Held, now: number): boolean {
  return nextNominalAt !== null && lookAt !== null && lookAt > now
}

/**
 * A time at or before the last one would be a second run for it, whatever the row says is next. So would
 * one that comes next: of runs that are followed, somebody may have seen an earlier one end.
 */
function isAsExpected(row: Held, { version, nominalAt, settled, next }: FireCommand): boolean {
  const first = settled[0]?.nominalAt ?? next.nominalAt
  const isNew = first === null || row.lastNominalAt === null || first > row.lastNominalAt
  return row.version === version && row.nextNominalAt === nominalAt && isNew
}

async function readClockIn(work: Work): Promise<number> {
  const [row] = await work.query<{ now: number }>(READ_CLOCK, [null])
  return row!.now
}

/**
 * The rows are locked: who overlaps whom cannot change by another firing any more. But a run may end
 * until the time has come, and must not wait for it at its gate: ahead, what meets one is left out.
 */
async function decide(
  work: Work,
  taken: ReadonlyMap<FireCommand, Held>,
  { now, isAhead }: { now: number; isAhead: boolean },
): Promise<Map<FireCommand, Fired>> {
  const known = [...taken.values()].flatMap(({ openRuns }) => openRuns ?? [])
  const ids = [...taken.keys()].map(({ id }) => id)
  const [about, open] = await Promise.all([
    work.query<About>(ABOUT_SCHEDULES, [bigints(ids)]),
    known.length > 0 ? work.query<{ id: number }>(OPEN_RUNS, [bigints(known)]) : [],
  ])
  const facts = new Map(about.map((row) => [row.id, row]))
  const isOpen = new Set(open.map(({ id }) => id))
  const fired = new Map<FireCommand, Fired>()
  for (const [command, { openRuns, lookAt }] of taken) {
    const still = (openRuns ?? []).filter((runId) => isOpen.has(runId))
    if (isAhead && still.length > 0) continue
    const { projectId, isMarked, isPaused } = facts.get(command.id)!
    // Nobody moves it out of a pause, not even if it only waits for its run to end.
    if (isPaused && lookAt !== null && lookAt > now) continue
    fired.set(command, { ...settle(command, still, now), command, projectId, isMarked })
  }
  return fired
}

/** Ahead, what does not pass its gate at once is taken out of `all`: nothing of it is written. */
async function write(
  work: Work,
  { node, now, clock, isAhead }: AsOf,
  all: Map<FireCommand, Fired>,
): Promise<Pick<FireResult, 'started' | 'lanes' | 'cancelled'>> {
  const ahead = isAhead ? await enterAhead(work, now, all) : null
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
    addOccurrences(work, now, occurrences),
    moveOn(work, fired),
    addExpectations(work, expected),
  ]
  const cancels = replaced.length > 0 ? await cancelRuns(work, clock, replaced) : null
  const cancelled = replaced.map(({ runId }) => runId)
  if (cancels) {
    writing.push(noteEnds(work, clock, cancelled).then(() => {}))
    writing.push(tell(work, clock, cancelled).then(() => {}))
  }
  // Their times have come: the row is locked, and was looked at by the same clock.
  const entrance = ahead ?? (await openEntrance(work, now, due(runs), cancels?.gates ?? []))
  const hopeful = true
  if (runs.length > 0)
    writing.push(inserted(insertRuns(work, clock, node, runs, { hopeful, entrance })))
  await Promise.all(writing)
  const admitted = await admitLines(work, entrance)
  const passing = runs.filter(({ id, gates }) => gates.length === 0 || entrance.passes.has(id))
  const started = passing.filter(({ handOff }) => handOff).map(({ id }) => id)
  const ready = passing.filter(({ handOff }) => !handOff).map(({ laneId }) => laneId)
  const lanes = [...new Set([...ready, ...admitted])].toSorted((a, b) => a - b)
  return { started, lanes, cancelled }
}

async function enterAhead(
  work: Work,
  now: number,
  all: Map<FireCommand, Fired>,
): Promise<Entrance> {
  const entrance = await openEntrance(work, now, due(runsOf([...all.values()])), [])
  for (const [command, { runs }] of all) {
    const isHeldUp = runs.some(({ id, gates }) => gates.length > 0 && !entrance.passes.has(id))
    if (isHeldUp) all.delete(command)
  }
  return entrance
}

function runsOf(fired: readonly Fired[]): NewRun[] {
  return fired.flatMap((one) => one.runs).toSorted((a, b) => a.id - b.id)
}

function due(runs: readonly NewRun[]): NewRun[] {
  return runs.map((run) => ({ ...run, dueAt: null }))
}

async function inserted(submission: Promise<Submission>): Promise<void> {
  await submission
}

async function moveOn(work: Work, fired: readonly Fired[]): Promise<void> {
  const moving = work.query(MOVE_ON, [
    bigints(fired.map(({ command }) => command.id)),
    bigints(fired.map(({ command }) => command.next.nominalAt)),
    bigints(fired.map(({ command }) => command.next.lookAt)),
    bigints(fired.map(({ occurrences }) => occurrences.at(-1)?.untilAt ?? null)),
    texts(fired.map(({ openRuns }) => (openRuns.length > 0 ? `{${openRuns.join()}}` : null))),
  ])
  const marked = fired.filter(({ isMarked }) => isMarked)
  if (marked.length > 0) {
    await work.query(UNMARK, [
      bigints(marked.map(({ command }) => command.id)),
      bigints(marked.map(({ command }) => command.next.nominalAt)),
    ])
  }
  await moving
}
