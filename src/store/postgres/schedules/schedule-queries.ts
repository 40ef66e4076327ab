import { hasRun, outcomeOfCode } from '../../../core/schedule/firing/occurrence.ts'
import { STATE_CODE } from '../../../core/run/run-state.ts'
import type { OccurrenceRecord, PastDuration, ScheduleRecord, ScheduleStore } from '../../port.ts'
import { bigints } from '../connection/binary-arrays.ts'
import { type Database, pickLists } from '../database/database.ts'
import { type ScheduleRow, toSchedule } from '../../schedule-row.ts'
import { SCHEDULE_COLUMNS } from './schedule-row.ts'
import { read } from '../connection/transaction.ts'

export const DUE_SCHEDULES = {
  name: 'due-schedules',
  text: `
  SELECT ${SCHEDULE_COLUMNS}
    FROM (
      SELECT * FROM schedule_next
       WHERE look_at IS NOT NULL AND look_at <= $1::bigint
         AND (look_at, schedule_id + 0) > ($2::bigint, $3::bigint)
       ORDER BY look_at, schedule_id + 0 LIMIT $4::int) n
   CROSS JOIN LATERAL (SELECT * FROM schedule WHERE schedule.id = n.schedule_id LIMIT 1) s
   ORDER BY n.look_at, s.id`,
}
const FROM = `FROM schedule s JOIN schedule_next n ON n.schedule_id = s.id`
const BY_IDS = {
  name: 'schedules-by-id',
  text: `SELECT ${SCHEDULE_COLUMNS} ${FROM} WHERE s.id = ANY ($1::bigint[]) AND s.deleted_at IS NULL`,
}
const BY_NAME = {
  name: 'schedule-by-name',
  text: `SELECT ${SCHEDULE_COLUMNS} ${FROM}
          WHERE s.job_id = $1::int AND s.name = $2 AND s.deleted_at IS NULL`,
}
const OF_PROJECT = {
  name: 'schedules-of-project',
  text: `SELECT ${SCHEDULE_COLUMNS} ${FROM}
          WHERE s.project_id = $1::int AND s.id > $2::bigint AND s.deleted_at IS NULL
          ORDER BY s.id LIMIT $3::int`,
}
const OF_JOB = {
  name: 'schedules-of-job',
  text: `SELECT ${SCHEDULE_COLUMNS} ${FROM}
          WHERE s.project_id = $1::int AND s.id > $2::bigint AND s.deleted_at IS NULL
            AND s.job_id = $4::int
          ORDER BY s.id LIMIT $3::int`,
}
const LIVE_NODES = { name: 'live-nodes', text: `SELECT id FROM node WHERE alive ORDER BY id` }

const COLUMNS = `
  id, schedule_id AS "scheduleId", nominal_at AS "nominalAt", until_at AS "untilAt",
  project_id AS "projectId", version, count, outcome, reason, detail,
  other_run_id AS "otherRunId", at`
/** Records do not overlap, so at most the last one before the range reaches into it. */
const OCCURRENCES = {
  name: 'occurrences',
  text: `
  SELECT ${COLUMNS} FROM occurrence
   WHERE schedule_id = $1::bigint AND nominal_at <= $3::bigint
     AND nominal_at >= coalesce((
       SELECT nominal_at FROM occurrence
        WHERE schedule_id = $1::bigint AND nominal_at < $2::bigint
        ORDER BY nominal_at DESC LIMIT 1), $2::bigint)
     AND until_at >= $2::bigint
   ORDER BY nominal_at LIMIT $4::int`,
}
/** Outcomes up to this code have a run, and its id. */
const OF_RUN = {
  name: 'occurrence-of-run',
  text: `SELECT ${COLUMNS} FROM occurrence WHERE id = $1::bigint AND outcome <= 2`,
}
const VOID_OF_RUN = {
  name: 'void-occurrence-of-run',
  text: `SELECT ${COLUMNS} FROM void_occurrence WHERE id = $1::bigint AND outcome <= 2`,
}
const FOLLOWING = {
  name: 'schedules-following',
  text: `
  SELECT DISTINCT n.schedule_id AS id
    FROM unnest($1::bigint[]) AS item (id)
   CROSS JOIN LATERAL (
     SELECT schedule_id FROM occurrence o WHERE o.id = item.id AND outcome <= 2 LIMIT 1) o
   CROSS JOIN LATERAL (
     SELECT schedule_id FROM schedule_next n
      WHERE n.schedule_id = o.schedule_id AND nominal_at IS NULL AND look_at IS NOT NULL) n`,
}
const UNUSUAL = {
  name: 'unusual-occurrences',
  text: `
  SELECT ${COLUMNS} FROM occurrence
   WHERE project_id = $1::int AND outcome > 0
     AND (id, schedule_id, nominal_at) < ($2::bigint, $3::bigint, $4::bigint)
   ORDER BY id DESC, schedule_id DESC, nominal_at DESC LIMIT $5::int`,
}

/** Walks back over few records, whatever the outcome of those times. */
const PAST_DURATIONS = {
  name: 'past-durations',
  text: `
  SELECT wanted.id AS "scheduleId", e.finished_at - e.started_at AS ms
    FROM unnest($1::bigint[]) AS wanted (id)
   CROSS JOIN LATERAL (
     SELECT id, outcome FROM occurrence
      WHERE schedule_id = wanted.id ORDER BY nominal_at DESC LIMIT $2::int) o
   CROSS JOIN LATERAL (SELECT * FROM run_end WHERE run_id = o.id LIMIT 1) e
   WHERE o.outcome <= 2 AND e.state = ${STATE_CODE.succeeded} AND e.started_at IS NOT NULL`,
}

type Input<Name extends keyof ScheduleStore> = Parameters<ScheduleStore[Name]>[0]
type Row = Omit<OccurrenceRecord, 'outcome' | 'runId'> & { readonly outcome: number }

const LAST = Number.MAX_SAFE_INTEGER

/** On the `duty` connection: firing must never wait behind reads for display. */
export async function dueSchedules(
  db: Database,
  { after, until, limit }: Input<'dueSchedules'>,
): Promise<ScheduleRecord[]> {
  const { checkAt, id } = after ?? { checkAt: -LAST, id: -LAST }
  const rows = await read<ScheduleRow>(db.duty, DUE_SCHEDULES, [until, checkAt, id, limit])
  return rows.map(toSchedule)
}

export async function findSchedules(
  db: Database,
  ids: readonly number[],
): Promise<ScheduleRecord[]> {
  const rows = await read<ScheduleRow>(db.duty, BY_IDS, [bigints(ids)])
  return rows.map(toSchedule)
}

export async function findSchedule(
  db: Database,
  { jobId, name }: Input<'findSchedule'>,
): Promise<ScheduleRecord | null> {
  const [row] = await read<ScheduleRow>(db.reading, BY_NAME, [jobId, name])
  return row ? toSchedule(row) : null
}

export async function listSchedules(
  db: Database,
  { projectId, jobId, after, limit }: Input<'listSchedules'>,
): Promise<ScheduleRecord[]> {
  const page = [projectId, after, limit]
  const rows =
    jobId === null
      ? await read<ScheduleRow>(pickLists(db), OF_PROJECT, page)
      : await read<ScheduleRow>(pickLists(db), OF_JOB, [...page, jobId])
  return rows.map(toSchedule)
}

export async function schedulesFollowing(
  db: Database,
  runIds: readonly number[],
): Promise<number[]> {
  const rows = await read<{ id: number }>(db.duty, FOLLOWING, [bigints(runIds)])
  return rows.map(({ id }) => id)
}

export async function liveNodes(db: Database): Promise<number[]> {
  const rows = await read<{ id: number }>(db.duty, LIVE_NODES)
  return rows.map(({ id }) => id)
}

export async function occurrences(
  db: Database,
  { scheduleId, from, until, limit }: Input<'occurrences'>,
): Promise<OccurrenceRecord[]> {
  const rows = await read<Row>(pickLists(db), OCCURRENCES, [scheduleId, from, until, limit])
  return rows.map(toOccurrence)
}

export async function occurrenceOf(
  db: Database,
  { runId }: Input<'occurrenceOf'>,
): Promise<OccurrenceRecord | null> {
  const [row] = await read<Row>(db.reading, OF_RUN, [runId])
  if (row) return toOccurrence(row)
  const [voided] = await read<Row>(db.reading, VOID_OF_RUN, [runId])
  return voided ? { ...toOccurrence(voided), reason: 'clock_set_back' } : null
}

export async function unusualOccurrences(
  db: Database,
  { projectId, before, limit }: Input<'unusualOccurrences'>,
): Promise<OccurrenceRecord[]> {
  const { id, scheduleId, nominalAt } = before ?? { id: LAST, scheduleId: LAST, nominalAt: LAST }
  const rows = await read<Row>(pickLists(db), UNUSUAL, [
    projectId,
    id,
    scheduleId,
    nominalAt,
    limit,
  ])
  return rows.map(toOccurrence)
}

export async function pastDurations(
  db: Database,
  { scheduleIds, each }: Input<'pastDurations'>,
): Promise<PastDuration[]> {
  return read<PastDuration>(pickLists(db), PAST_DURATIONS, [bigints(scheduleIds), each])
}

function toOccurrence(row: Row): OccurrenceRecord {
  const outcome = outcomeOfCode(row.outcome)
  return { ...row, outcome, runId: hasRun(outcome) ? row.id : null }
}
