import type { Database } from 'better-sqlite3'
import type { PutScheduleResult, SchedulePut, ScheduleRevision, ScheduleStore } from '../../port.ts'
import { isAfterLastFired, isRevisionCurrent } from '../../schedule-revision.ts'
import { occurrenceBeforeChange } from '../../../core/schedule/firing/settle-schedule.ts'
import { prepareAddOccurrence } from './add-occurrences.ts'
import type { Audit } from '../audit/audit.ts'
import { pausedBy } from '../../schedule-row.ts'

const COLUMNS = `
  id, project_id AS projectId, job_id AS jobId, version, spec, next_nominal_at AS nextNominalAt,
  last_nominal_at AS lastNominalAt, paused_at AS pausedAt, paused_by_job AS pausedByJob, resumed_at AS resumedAt`
export const FIND_NAMED = `
  SELECT ${COLUMNS} FROM schedule WHERE job_id = ? AND name = ? AND deleted_at IS NULL`
export const FIND_OWNED = `
  SELECT ${COLUMNS} FROM schedule WHERE id = ? AND project_id = ? AND deleted_at IS NULL`
export const COUNT_SCHEDULES = `
  SELECT count(*) FROM (
    SELECT 1 FROM schedule WHERE job_id = ? AND deleted_at IS NULL LIMIT ?)`
export const JOB_PAUSE = `SELECT paused_at FROM job WHERE id = ?`
const CREATE = `
  INSERT INTO schedule (id, project_id, job_id, name, version, next_nominal_at, look_at, paused_at,
                        paused_by_job, created_at, created_by, updated_at, updated_by, spec)
  VALUES (:id, :projectId, :jobId, :name, 1, :next, :checkAt, :pausedAt, :byJob, :now, :actor, :now,
          :actor, :spec)`
/** A pause outlasts a change; while paused, the schedule is not checked. */
export const CHANGE = `
  UPDATE schedule SET version = version + 1, spec = :spec, next_nominal_at = :next,
         look_at = CASE WHEN paused_at IS NULL THEN :checkAt ELSE look_at END,
         last_nominal_at = ifnull(:last, last_nominal_at), skip_nominal_at = NULL, error = NULL,
         updated_at = :now, updated_by = :actor
   WHERE id = :id`
export const PAUSE = `
  UPDATE schedule SET version = version + 1, look_at = :until,
         paused_at = ifnull(paused_at, :now), paused_until = :until, paused_reason = :reason,
         paused_by_job = :byJob, resumed_at = NULL, updated_at = :now, updated_by = :actor
   WHERE id = :id`
export const RESUME = `
  UPDATE schedule SET version = version + 1, look_at = :now, resumed_at = :now, updated_at = :now,
         updated_by = :actor
   WHERE id = :id`
export const SKIP_NEXT = `
  UPDATE schedule SET version = version + 1, skip_nominal_at = next_nominal_at, updated_at = :now,
         updated_by = :actor
   WHERE id = :id`
export const DELETE = `
  UPDATE schedule SET version = version + 1, next_nominal_at = NULL, look_at = NULL,
         deleted_at = :now, updated_at = :now, updated_by = :actor
   WHERE id = :id`
export const FAIL = `
  UPDATE schedule SET error = ?, look_at = ? WHERE id = ? AND version = ? AND look_at IS NOT NULL`
export const OF_JOB = `SELECT ${COLUMNS} FROM schedule WHERE job_id = ? AND deleted_at IS NULL`

interface Row {
  readonly id: number
  readonly projectId: number
  readonly jobId: number
  readonly version: number
  readonly spec: string
  readonly nextNominalAt: number | null
  readonly lastNominalAt: number | null
  readonly pausedAt: number | null
  readonly pausedByJob: number
  readonly resumedAt: number | null
}

type Input<Name extends keyof ScheduleStore> = Parameters<ScheduleStore[Name]>[0]

interface Job {
  readonly projectId: number
  readonly jobId: number
}

export interface ScheduleChanges {
  putSchedule(input: Input<'putSchedule'>, now: number): PutScheduleResult
  pauseSchedule(input: Input<'pauseSchedule'>, now: number): boolean
  resumeSchedule(
    input: Input<'resumeSchedule'>,
    now: number,
  ): 'resumed' | 'held' | 'running' | 'unknown'
  skipNext(input: Input<'skipNext'>, now: number): number | null
  deleteSchedule(
    input: Input<'deleteSchedule'>,
    now: number,
  ): Awaited<ReturnType<ScheduleStore['deleteSchedule']>>
  failSchedule(input: Input<'failSchedule'>): boolean
  /** A change of a job applies to its schedules in the same transaction. */
  readonly ofJob: {
    pause(jobId: number, actor: number | null, now: number): void
    resume(jobId: number, actor: number | null, now: number): void
    delete(jobId: number, actor: number | null, now: number): void
    /** False: the revision no longer holds, and nothing has changed. */
    revise(job: Job, revision: ScheduleRevision, now: number): boolean
  }
}

/** The writes to one schedule, which its own commands and those of its job share. */
function prepareWrites(db: Database, audit: Audit) {
  const jobPause = db.prepare<[number], number | null>(JOB_PAUSE).pluck()
  const create = db.prepare<[object]>(CREATE)
  const change = db.prepare<[object]>(CHANGE)
  const remove = db.prepare<[object]>(DELETE)
  const addOccurrence = prepareAddOccurrence(db)

  const overtake = (
    row: Row,
    now: number,
    reason: 'edited' | 'deleted',
    next: number | null = null,
  ) => {
    const due = { nextNominalAt: row.nextNominalAt, pausedBy: pausedBy(row) }
    const record = occurrenceBeforeChange(due, now, reason, next)
    if (record) addOccurrence(row, record, now)
    return record?.untilAt ?? null
  }

  const createOne = ({ projectId, jobId }: Job, put: SchedulePut, now: number) => {
    const { id, name, spec, next, audit: entry } = put
    const isHeld = (jobPause.get(jobId) ?? null) !== null
    create.run({
      id,
      projectId,
      jobId,
      name,
      spec,
      next: next.nominalAt,
      now,
      actor: entry.actor,
      checkAt: isHeld ? null : next.checkAt,
      pausedAt: isHeld ? now : null,
      byJob: Number(isHeld),
    })
    audit(entry, now)
  }

  const changeOne = (row: Row, put: Omit<SchedulePut, 'id' | 'name'>, now: number) => {
    const { spec, next, audit: entry } = put
    const last = overtake(row, now, 'edited', next.nominalAt)
    const values = { id: row.id, spec, next: next.nominalAt, checkAt: next.checkAt }
    change.run({ ...values, last, now, actor: entry.actor })
    audit(entry, now)
  }

  const removeOne = (row: Row, actor: number | null, now: number) => {
    overtake(row, now, 'deleted')
    remove.run({ id: row.id, actor, now })
  }

  return {
    jobPause,
    createOne,
    changeOne,
    removeOne,
    pause: db.prepare<[object]>(PAUSE),
    resume: db.prepare<[object]>(RESUME),
  }
}

type Writes = ReturnType<typeof prepareWrites>

export function prepareSchedules(db: Database, audit: Audit): ScheduleChanges {
  const writes = prepareWrites(db, audit)
  const { jobPause, createOne, changeOne, removeOne, pause, resume } = writes
  const findNamed = db.prepare<[number, string], Row>(FIND_NAMED)
  const findOwned = db.prepare<[number, number], Row>(FIND_OWNED)
  const count = db.prepare<[number, number], number>(COUNT_SCHEDULES).pluck()
  const skip = db.prepare<[object]>(SKIP_NEXT)
  const fail = db.prepare(FAIL)

  return {
    putSchedule(input, now) {
      const { id, jobId, name, spec, next, expect, maxSchedules } = input
      const known = findNamed.get(jobId, name)
      const version = known?.version ?? 0
      if (expect !== null && expect !== version) return { kind: 'conflict', version }
      if (known?.spec === spec) return { kind: 'same', id: known.id, version }
      if (known) {
        const lastNominalAt = known.lastNominalAt ?? Number.NEGATIVE_INFINITY
        if (!isAfterLastFired(next, lastNominalAt)) return { kind: 'overtaken', lastNominalAt }
        changeOne(known, input, now)
        return { kind: 'changed', id: known.id, version: version + 1 }
      }
      if ((count.get(jobId, maxSchedules) ?? 0) >= maxSchedules) return { kind: 'full' }
      createOne(input, input, now)
      return { kind: 'created', id, version: 1 }
    },

    pauseSchedule({ projectId, id, until, reason, audit: entry }, now) {
      if (!findOwned.get(id, projectId)) return false
      pause.run({ id, until, reason, byJob: 0, now, actor: entry.actor })
      audit(entry, now)
      return true
    },

    resumeSchedule({ projectId, id, audit: entry }, now) {
      const row = findOwned.get(id, projectId)
      if (!row) return 'unknown'
      if (row.pausedAt === null || row.resumedAt !== null) return 'running'
      const { actor } = entry
      audit(entry, now)
      if ((jobPause.get(row.jobId) ?? null) !== null) {
        pause.run({ id, until: null, reason: null, byJob: 1, now, actor })
        return 'held'
      }
      resume.run({ id, now, actor })
      return 'resumed'
    },

    skipNext({ projectId, id, audit: entry }, now) {
      const nextNominalAt = findOwned.get(id, projectId)?.nextNominalAt ?? null
      if (nextNominalAt === null) return null
      skip.run({ id, now, actor: entry.actor })
      audit(entry, now)
      return nextNominalAt
    },

    deleteSchedule({ projectId, id, expect = null, audit: entry }, now) {
      const row = findOwned.get(id, projectId)
      if (!row) return 'unknown'
      if (expect !== null && expect !== row.version) return 'conflict'
      removeOne(row, entry.actor, now)
      audit(entry, now)
      return 'deleted'
    },

    failSchedule: ({ id, version, error, checkAt }) =>
      fail.run(error, checkAt, id, version).changes > 0,

    ofJob: prepareSchedulesOfJob(db, audit, writes),
  }
}

function prepareSchedulesOfJob(
  db: Database,
  audit: Audit,
  { createOne, changeOne, removeOne, pause, resume }: Writes,
): ScheduleChanges['ofJob'] {
  const ofJob = db.prepare<[number], Row>(OF_JOB)
  return {
    pause(jobId, actor, now) {
      for (const row of ofJob.all(jobId)) {
        const isPaused = pausedBy(row) !== null
        if (!isPaused) pause.run({ id: row.id, until: null, reason: null, byJob: 1, now, actor })
      }
    },
    resume(jobId, actor, now) {
      for (const row of ofJob.all(jobId)) {
        if (pausedBy(row) === 'job') resume.run({ id: row.id, now, actor })
      }
    },
    delete(jobId, actor, now) {
      for (const row of ofJob.all(jobId)) removeOne(row, actor, now)
    },
    revise(job, revision, now) {
      const rows = ofJob.all(job.jobId)
      if (!isRevisionCurrent(revision, rows)) return false
      const byId = new Map(rows.map((row) => [row.id, row]))
      for (const { id, audit: entry } of revision.removes) {
        removeOne(byId.get(id) as Row, entry.actor, now)
        audit(entry, now)
      }
      for (const put of revision.puts) {
        const row = byId.get(put.id)
        if (row) changeOne(row, put, now)
        else createOne(job, put, now)
      }
      return true
    },
  }
}
