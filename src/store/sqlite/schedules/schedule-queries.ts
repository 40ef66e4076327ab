import type { Database } from 'better-sqlite3'
import { hasRun, outcomeOfCode } from '../../../core/schedule/firing/occurrence.ts'
import { STATE_CODE } from '../../../core/run/run-state.ts'
import type { OccurrenceRecord, ScheduleStore } from '../../port.ts'
import { SCHEDULE_COLUMNS, type StoredScheduleRow, toScheduleRecord } from './schedule-row.ts'
import type { Sync } from '../connection/sync.ts'

export const DUE_SCHEDULES = `
  SELECT ${SCHEDULE_COLUMNS} FROM schedule
   WHERE look_at IS NOT NULL AND look_at <= :until AND (look_at, id) > (:checkAt, :id)
   ORDER BY look_at, id LIMIT :limit`
export const SCHEDULE_BY_ID = `
  SELECT ${SCHEDULE_COLUMNS} FROM schedule WHERE id = ? AND deleted_at IS NULL`
export const SCHEDULE_BY_NAME = `
  SELECT ${SCHEDULE_COLUMNS} FROM schedule WHERE job_id = ? AND name = ? AND deleted_at IS NULL`
export const SCHEDULES_OF_PROJECT = `
  SELECT ${SCHEDULE_COLUMNS} FROM schedule
   WHERE project_id = :projectId AND id > :after AND deleted_at IS NULL ORDER BY id LIMIT :limit`
export const SCHEDULES_OF_JOB = `
  SELECT ${SCHEDULE_COLUMNS} FROM schedule
   WHERE job_id = :jobId AND project_id = :projectId AND id > :after AND deleted_at IS NULL
   ORDER BY id LIMIT :limit`
const LIVE_NODES = `SELECT incarnation FROM node WHERE alive = 1 ORDER BY incarnation`

const COLUMNS = `
  id, schedule_id AS scheduleId, nominal_at AS nominalAt, until_at AS untilAt,
  project_id AS projectId, version, count, outcome, reason, detail, other_run_id AS otherRunId, at`
/** Records do not overlap, so at most the last one before the range reaches into it. */
export const OCCURRENCES = `
  SELECT ${COLUMNS} FROM occurrence
   WHERE schedule_id = :scheduleId AND nominal_at <= :until AND nominal_at >= ifnull((
           SELECT nominal_at FROM occurrence
            WHERE schedule_id = :scheduleId AND nominal_at < :from
            ORDER BY nominal_at DESC LIMIT 1), :from)
     AND until_at >= :from
   ORDER BY nominal_at LIMIT :limit`
/** Outcomes up to this code have a run, and its id. */
export const OF_RUN = `SELECT ${COLUMNS} FROM occurrence WHERE id = ? AND outcome <= 2`
export const VOID_OF_RUN = `SELECT ${COLUMNS} FROM void_occurrence WHERE id = ? AND outcome <= 2`
export const FOLLOWING = `
  SELECT s.id FROM occurrence o JOIN schedule s ON s.id = o.schedule_id
   WHERE o.id = ? AND o.outcome <= 2 AND s.next_nominal_at IS NULL AND s.look_at IS NOT NULL`
export const UNUSUAL = `
  SELECT ${COLUMNS} FROM occurrence
   WHERE project_id = :projectId AND outcome > 0
     AND (id, schedule_id, nominal_at) < (:id, :scheduleId, :nominalAt)
   ORDER BY id DESC, schedule_id DESC, nominal_at DESC LIMIT :limit`

/** Walks back over few records, whatever the outcome of those times. */
export const PAST_DURATIONS = `
  SELECT r.finished_at - r.started_at
    FROM (SELECT id, outcome FROM occurrence
           WHERE schedule_id = :scheduleId ORDER BY nominal_at DESC LIMIT :each) o
    JOIN run r ON r.id = o.id
   WHERE o.outcome <= 2 AND r.status = ${STATE_CODE.succeeded} AND r.started_at IS NOT NULL`

type Row = Omit<OccurrenceRecord, 'outcome' | 'runId'> & { readonly outcome: number }

const LAST = Number.MAX_SAFE_INTEGER

type Queries = Pick<
  ScheduleStore,
  | 'dueSchedules'
  | 'findSchedules'
  | 'findSchedule'
  | 'listSchedules'
  | 'schedulesFollowing'
  | 'liveNodes'
  | 'occurrences'
  | 'occurrenceOf'
  | 'unusualOccurrences'
  | 'pastDurations'
>

export function prepareScheduleQueries(db: Database): Sync<Queries> {
  const due = db.prepare<[object], StoredScheduleRow>(DUE_SCHEDULES)
  const byId = db.prepare<[number], StoredScheduleRow>(SCHEDULE_BY_ID)
  const byName = db.prepare<[number, string], StoredScheduleRow>(SCHEDULE_BY_NAME)
  const ofProject = db.prepare<[object], StoredScheduleRow>(SCHEDULES_OF_PROJECT)
  const ofJob = db.prepare<[object], StoredScheduleRow>(SCHEDULES_OF_JOB)
  const liveNodes = db.prepare<[], number>(LIVE_NODES).pluck()
  const occurrences = db.prepare<[object], Row>(OCCURRENCES)
  const following = db.prepare<[number], number>(FOLLOWING).pluck()
  const ofRun = db.prepare<[number], Row>(OF_RUN)
  const voidOfRun = db.prepare<[number], Row>(VOID_OF_RUN)
  const durations = db.prepare<[object], number>(PAST_DURATIONS).pluck()
  const unusual = db.prepare<[object], Row>(UNUSUAL)

  return {
    dueSchedules({ after, until, limit }) {
      const place = after ?? { checkAt: -LAST, id: -LAST }
      return due.all({ ...place, until, limit }).map(toScheduleRecord)
    },
    findSchedules: (ids) =>
      ids.flatMap((id) => {
        const row = byId.get(id)
        return row ? [toScheduleRecord(row)] : []
      }),
    findSchedule({ jobId, name }) {
      const row = byName.get(jobId, name)
      return row ? toScheduleRecord(row) : null
    },
    listSchedules({ projectId, jobId, after, limit }) {
      const page = { projectId, after, limit }
      return (jobId === null ? ofProject.all(page) : ofJob.all({ ...page, jobId })).map(
        toScheduleRecord,
      )
    },
    schedulesFollowing: (runIds) => [...new Set(runIds.flatMap((id) => following.get(id) ?? []))],
    liveNodes: () => liveNodes.all(),
    occurrences: (range) => occurrences.all({ ...range }).map(toOccurrence),
    occurrenceOf({ runId }) {
      const row = ofRun.get(runId)
      if (row) return toOccurrence(row)
      const voided = voidOfRun.get(runId)
      return voided ? { ...toOccurrence(voided), reason: 'clock_set_back' } : null
    },
    pastDurations: ({ scheduleIds, each }) =>
      scheduleIds.flatMap((scheduleId) =>
        durations.all({ scheduleId, each }).map((ms) => ({ scheduleId, ms })),
      ),
    unusualOccurrences({ projectId, before, limit }) {
      const place = before ?? { id: LAST, scheduleId: LAST, nominalAt: LAST }
      return unusual.all({ ...place, projectId, limit }).map(toOccurrence)
    },
  }
}

function toOccurrence(row: Row): OccurrenceRecord {
  const outcome = outcomeOfCode(row.outcome)
  return { ...row, outcome, runId: hasRun(outcome) ? row.id : null }
}
