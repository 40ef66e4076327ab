import type { PutScheduleResult, SchedulePut, ScheduleStore, ScheduleRevision } from '../../port.ts'
import { isAfterLastFired, isRevisionCurrent } from '../../schedule-revision.ts'
import { pausedBy } from '../../schedule-row.ts'
import { occurrenceBeforeChange } from '../../../core/schedule/firing/settle-schedule.ts'
import { addOccurrences } from './add-occurrences.ts'
import { addAudit } from '../audit/audit.ts'
import type { Database } from '../database/database.ts'
import { CLOCK, type Statement, type Queryable } from '../connection/statement.ts'
import { transact } from '../connection/transaction.ts'

/**
 * Every decision about a schedule is made under the lock of its row in `schedule_next`, which
 * firing takes as well. A statement that waited for the lock sees that row's new version, but
 * joined rows as they were before the wait: so one statement locks, and the next reads, including
 * the clock. Both go out in one round trip.
 */
const COLUMNS = `
  s.id, s.project_id AS "projectId", s.job_id AS "jobId", s.spec, n.version,
  n.nominal_at AS "nextNominalAt", n.last_nominal_at AS "lastNominalAt", s.paused_at AS "pausedAt", s.paused_by_job AS "pausedByJob",
  s.resumed_at AS "resumedAt",
  (SELECT paused_at IS NOT NULL FROM job WHERE job.id = s.job_id) AS "isJobPaused",
  clock.now`
const FROM = `FROM schedule s JOIN schedule_next n ON n.schedule_id = s.id`

interface Find {
  readonly lock: Statement
  readonly read: Statement
}

/** `which` uses parameters from `$2` on: both statements take the same values, the clock first. */
function find(name: string, which: string): Find {
  const where = `WHERE ${which} AND s.deleted_at IS NULL ORDER BY s.id`
  return {
    lock: {
      name: `lock-${name}`,
      text: `WITH ${CLOCK} SELECT ${FROM} ${where} FOR UPDATE OF n`,
    },
    read: {
      name: `read-${name}`,
      text: `WITH ${CLOCK} SELECT ${COLUMNS} ${FROM} CROSS JOIN clock ${where}`,
    },
  }
}
const NAMED = find('schedule-named', `s.job_id = $2::int AND s.name = $3`)
const OWNED = find('schedule', `s.id = $2::bigint AND s.project_id = $3::int`)
const OF_JOB = find('schedules-of-job', `s.job_id = $2::int`)
const COUNT = {
  name: 'count-schedules',
  text: `
  SELECT count(*)::int AS count FROM (
    SELECT FROM schedule WHERE job_id = $1::int AND deleted_at IS NULL LIMIT $2::int) known`,
}
/** A transaction that pauses the job, or adds its last allowed schedule, waits for this one. */
const LOCK_JOB = {
  name: 'lock-job-to-schedule',
  text: `SELECT paused_at IS NOT NULL AS "isPaused" FROM job WHERE id = $1::int FOR UPDATE`,
}
const CREATE = {
  name: 'create-schedule',
  text: `
  WITH ${CLOCK},
  columns AS (
    INSERT INTO schedule (id, project_id, job_id, name, spec, paused_at, paused_by_job, created_at,
                          created_by, updated_at, updated_by)
    SELECT $2::bigint, $3::int, $4::int, $5, $6, CASE WHEN $10::boolean THEN now END, $10::boolean,
           now, $7::int, now, $7::int FROM clock)
  INSERT INTO schedule_next (schedule_id, version, nominal_at, look_at)
  VALUES ($2::bigint, 1, $8::bigint, CASE WHEN NOT $10::boolean THEN $9::bigint END)`,
}
const CHANGE = {
  name: 'change-schedule',
  text: `
  WITH columns AS (
    UPDATE schedule SET spec = $3, skip_nominal_at = NULL, error = NULL, updated_at = $4::bigint,
           updated_by = $5::int
     WHERE id = $1::bigint RETURNING paused_at)
  UPDATE schedule_next n
     SET version = version + 1, nominal_at = $6::bigint,
         look_at = CASE WHEN columns.paused_at IS NULL THEN $7::bigint ELSE n.look_at END,
         last_nominal_at = coalesce($2::bigint, n.last_nominal_at)
    FROM columns WHERE n.schedule_id = $1::bigint`,
}
const PAUSE = {
  name: 'pause-schedule',
  text: `
  WITH columns AS (
    UPDATE schedule SET paused_at = coalesce(paused_at, $2::bigint), paused_until = $4::bigint,
           paused_reason = $5, paused_by_job = $6::boolean, resumed_at = NULL,
           updated_at = $2::bigint, updated_by = $3::int
     WHERE id = $1::bigint)
  UPDATE schedule_next SET version = version + 1, look_at = $4::bigint
   WHERE schedule_id = $1::bigint`,
}
const RESUME = {
  name: 'resume-schedule',
  text: `
  WITH columns AS (
    UPDATE schedule SET resumed_at = $2::bigint, updated_at = $2::bigint, updated_by = $3::int
     WHERE id = $1::bigint)
  UPDATE schedule_next SET version = version + 1, look_at = $2::bigint
   WHERE schedule_id = $1::bigint`,
}
const SKIP_NEXT = {
  name: 'skip-next',
  text: `
  WITH columns AS (
    UPDATE schedule SET skip_nominal_at = $4::bigint, updated_at = $2::bigint, updated_by = $3::int
     WHERE id = $1::bigint)
  UPDATE schedule_next SET version = version + 1 WHERE schedule_id = $1::bigint`,
}
const DELETE = {
  name: 'delete-schedule',
  text: `
  WITH columns AS (
    UPDATE schedule SET deleted_at = $2::bigint, updated_at = $2::bigint, updated_by = $3::int
     WHERE id = $1::bigint)
  UPDATE schedule_next SET version = version + 1, nominal_at = NULL, look_at = NULL
   WHERE schedule_id = $1::bigint`,
}
const FAIL = {
  name: 'fail-schedule',
  text: `
  WITH held AS (
    UPDATE schedule_next SET look_at = $4::bigint
     WHERE schedule_id = $1::bigint AND version = $2::int AND look_at IS NOT NULL
    RETURNING schedule_id)
  UPDATE schedule SET error = $3 FROM held WHERE id = schedule_id RETURNING id`,
}

export interface LockedSchedule {
  readonly id: number
  readonly projectId: number
  readonly version: number
  readonly spec: string
  readonly nextNominalAt: number | null
  readonly lastNominalAt: number | null
  readonly pausedAt: number | null
  readonly pausedByJob: boolean
  readonly resumedAt: number | null
  readonly isJobPaused: boolean
  readonly now: number
}

type Input<Name extends keyof ScheduleStore> = Parameters<ScheduleStore[Name]>[0]

export async function putSchedule(
  db: Database,
  input: Input<'putSchedule'>,
): Promise<PutScheduleResult> {
  const { id, jobId, name, spec, next, expect, maxSchedules } = input
  return transact(db.duty, async (tx) => {
    const [job] = await tx.query<{ isPaused: boolean }>(LOCK_JOB, [jobId])
    const [known] = await lockAndRead(tx, NAMED, [db.now(), jobId, name])
    const version = known?.version ?? 0
    if (expect !== null && expect !== version) return { kind: 'conflict', version }
    if (known?.spec === spec) return { kind: 'same', id: known.id, version }
    if (known) {
      const lastNominalAt = known.lastNominalAt ?? Number.NEGATIVE_INFINITY
      if (!isAfterLastFired(next, lastNominalAt)) return { kind: 'overtaken', lastNominalAt }
      await changeSchedule(tx, db.now(), known, input)
      return { kind: 'changed', id: known.id, version: version + 1 }
    }
    const [row] = await tx.query<{ count: number }>(COUNT, [jobId, maxSchedules])
    if (row!.count >= maxSchedules) return { kind: 'full' }
    await createSchedule(tx, db.now(), { ...input, isHeld: job?.isPaused ?? false })
    return { kind: 'created', id, version: 1 }
  })
}

/** The job of the schedule, and whether the job is paused. */
interface OfJob {
  readonly projectId: number
  readonly jobId: number
  readonly isHeld: boolean
}

async function createSchedule(
  tx: Queryable,
  now: number | null,
  input: SchedulePut & OfJob,
): Promise<void> {
  const { id, projectId, jobId, name, spec, next, audit, isHeld } = input
  const { nominalAt, checkAt } = next
  const columns = [id, projectId, jobId, name, spec, audit.actor, nominalAt, checkAt, isHeld]
  await Promise.all([tx.query(CREATE, [now, ...columns]), addAudit(tx, now, audit)])
}

async function changeSchedule(
  tx: Queryable,
  now: number | null,
  row: LockedSchedule,
  { spec, next, audit }: Pick<SchedulePut, 'spec' | 'next' | 'audit'>,
): Promise<void> {
  const { nominalAt, checkAt } = next
  const last = await recordOvertaken(tx, row, 'edited', nominalAt)
  const values = [row.id, last, spec, row.now, audit.actor, nominalAt, checkAt]
  await Promise.all([tx.query(CHANGE, values), addAudit(tx, now, audit)])
}

export async function pauseSchedule(
  db: Database,
  { projectId, id, until, reason, audit }: Input<'pauseSchedule'>,
): Promise<boolean> {
  return transact(db.duty, async (tx) => {
    const row = await lock(tx, db, id, projectId)
    if (!row) return false
    await tx.query(PAUSE, [id, row.now, audit.actor, until, reason, false])
    await addAudit(tx, db.now(), audit)
    return true
  })
}

export async function resumeSchedule(
  db: Database,
  { projectId, id, audit }: Input<'resumeSchedule'>,
): ReturnType<ScheduleStore['resumeSchedule']> {
  return transact(db.duty, async (tx) => {
    const row = await lock(tx, db, id, projectId)
    if (!row) return 'unknown'
    if (pausedBy(row) === null) return 'running'
    const { isJobPaused, now } = row
    if (isJobPaused) await tx.query(PAUSE, [id, now, audit.actor, null, null, true])
    else await tx.query(RESUME, [id, now, audit.actor])
    await addAudit(tx, db.now(), audit)
    return isJobPaused ? 'held' : 'resumed'
  })
}

export async function skipNext(
  db: Database,
  { projectId, id, audit }: Input<'skipNext'>,
): Promise<number | null> {
  return transact(db.duty, async (tx) => {
    const row = await lock(tx, db, id, projectId)
    if (!row || row.nextNominalAt === null) return null
    await tx.query(SKIP_NEXT, [id, row.now, audit.actor, row.nextNominalAt])
    await addAudit(tx, db.now(), audit)
    return row.nextNominalAt
  })
}

export async function deleteSchedule(
  db: Database,
  { projectId, id, expect = null, audit }: Input<'deleteSchedule'>,
): ReturnType<ScheduleStore['deleteSchedule']> {
  return transact(db.duty, async (tx) => {
    const row = await lock(tx, db, id, projectId)
    if (!row) return 'unknown'
    if (expect !== null && expect !== row.version) return 'conflict'
    await removeSchedule(tx, row, audit.actor)
    await addAudit(tx, db.now(), audit)
    return 'deleted'
  })
}

export async function failSchedule(
  db: Database,
  { id, version, error, checkAt }: Input<'failSchedule'>,
): Promise<boolean> {
  const values = [id, version, error, checkAt]
  const rows = await transact(db.duty, (tx) => tx.query(FAIL, values), 'single')
  return rows.length > 0
}

/**
 * Runs in a transaction that holds the job's lock: no schedule is added between the two statements.
 */
function lockSchedulesOf(
  tx: Queryable,
  now: number | null,
  jobId: number,
): Promise<LockedSchedule[]> {
  return lockAndRead(tx, OF_JOB, [now, jobId])
}

/** A change of a job applies to its schedules in the same transaction. */
export async function changeSchedulesOfJob(
  tx: Queryable,
  now: number | null,
  {
    jobId,
    actor,
    change,
  }: {
    jobId: number
    actor: number | null
    change: 'pause' | 'resume' | 'delete'
  },
): Promise<void> {
  for (const row of await lockSchedulesOf(tx, now, jobId)) {
    const by = pausedBy(row)
    if (change === 'delete') await removeSchedule(tx, row, actor)
    else if (change === 'pause' && by === null) {
      await tx.query(PAUSE, [row.id, row.now, actor, null, null, true])
    } else if (change === 'resume' && by === 'job') {
      await tx.query(RESUME, [row.id, row.now, actor])
    }
  }
}

/**
 * Runs in a transaction that holds the job's lock. False: the revision no longer holds, and nothing
 * has changed. Does not wait for answers it does not need: a thousand schedules take a few round
 * trips.
 */
export async function reviseSchedules(
  tx: Queryable,
  now: number | null,
  job: OfJob,
  revision: ScheduleRevision,
): Promise<boolean> {
  const rows = await lockSchedulesOf(tx, now, job.jobId)
  if (!isRevisionCurrent(revision, rows)) return false
  const byId = new Map(rows.map((row) => [row.id, row]))
  const removes = revision.removes.map(({ id, audit }) =>
    Promise.all([
      removeSchedule(tx, byId.get(id) as LockedSchedule, audit.actor),
      addAudit(tx, now, audit),
    ]),
  )
  const puts = revision.puts.map((put) => {
    const row = byId.get(put.id)
    return row ? changeSchedule(tx, now, row, put) : createSchedule(tx, now, { ...put, ...job })
  })
  await Promise.all([...removes, ...puts])
  return true
}

async function lock(
  tx: Queryable,
  db: Database,
  id: number,
  projectId: number,
): Promise<LockedSchedule | undefined> {
  const [row] = await lockAndRead(tx, OWNED, [db.now(), id, projectId])
  return row
}

async function lockAndRead(
  tx: Queryable,
  { lock: locking, read }: Find,
  values: readonly unknown[],
): Promise<LockedSchedule[]> {
  const [, rows] = await Promise.all([
    tx.query(locking, values),
    tx.query<LockedSchedule>(read, values),
  ])
  return rows
}

async function removeSchedule(
  tx: Queryable,
  row: LockedSchedule,
  actor: number | null,
): Promise<void> {
  await recordOvertaken(tx, row, 'deleted')
  await tx.query(DELETE, [row.id, row.now, actor])
}

async function recordOvertaken(
  tx: Queryable,
  row: LockedSchedule,
  reason: 'edited' | 'deleted',
  next: number | null = null,
): Promise<number | null> {
  const { id: scheduleId, projectId, version, nextNominalAt, now } = row
  const before = { nextNominalAt, pausedBy: pausedBy(row) }
  const record = occurrenceBeforeChange(before, now, reason, next)
  if (record) await addOccurrences(tx, now, [{ ...record, scheduleId, projectId, version }])
  return record?.untilAt ?? null
}
