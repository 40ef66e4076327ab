import type { Database } from 'better-sqlite3'
import { OUTCOME_CODE } from '../../core/firing/occurrence.ts'
import type { NewOccurrence } from '../settle.ts'

export const ADD_OCCURRENCE = `
  INSERT INTO occurrence (schedule_id, nominal_at, until_at, id, project_id, version, count, outcome,
                          other_run_id, at, reason, detail)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

export type AddOccurrence = (
  schedule: { readonly id: number; readonly projectId: number; readonly version: number },
  occurrence: NewOccurrence,
  now: number,
) => void

export function prepareAddOccurrence(db: Database): AddOccurrence {
  const add = db.prepare(ADD_OCCURRENCE)
  return ({ id: scheduleId, projectId, version }, occurrence, now) => {
    const { id, nominalAt, untilAt, count, outcome, reason, detail, otherRunId } = occurrence
    const code = OUTCOME_CODE[outcome]
    add.run(
      ...[scheduleId, nominalAt, untilAt, id, projectId, version, count, code, otherRunId, now],
      ...[reason, detail],
    )
  }
}
