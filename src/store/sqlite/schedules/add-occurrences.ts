import type { Database } from 'better-sqlite3'
import { OUTCOME_CODE } from '../../../core/schedule/firing/occurrence.ts'
import type { NewOccurrence } from '../../../core/schedule/firing/settle-schedule.ts'
import { valuesList } from '../connection/bulk.ts'

export const OCCURRENCE_WIDTH = 12
export const addOccurrencesOf = (rows: string) => `
  INSERT INTO occurrence (schedule_id, nominal_at, until_at, id, project_id, version, count, outcome,
                          other_run_id, at, reason, detail) ${rows}`
export const ADD_OCCURRENCE = addOccurrencesOf(valuesList(1, OCCURRENCE_WIDTH))

interface OfSchedule {
  readonly id: number
  readonly projectId: number
  readonly version: number
}

export type AddOccurrence = (schedule: OfSchedule, occurrence: NewOccurrence, now: number) => void

export function prepareAddOccurrence(db: Database): AddOccurrence {
  const add = db.prepare(ADD_OCCURRENCE)
  return (schedule, occurrence, now) => {
    add.run(...occurrenceRow(schedule, occurrence, now))
  }
}

/** In the order of the columns. */
export function occurrenceRow(
  { id: scheduleId, projectId, version }: OfSchedule,
  occurrence: NewOccurrence,
  now: number,
): unknown[] {
  const { id, nominalAt, untilAt, count, outcome, reason, detail, otherRunId } = occurrence
  const code = OUTCOME_CODE[outcome]
  return [
    scheduleId,
    nominalAt,
    untilAt,
    id,
    projectId,
    version,
    count,
    code,
    otherRunId,
    now,
    reason,
    detail,
  ]
}
