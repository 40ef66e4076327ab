import { OUTCOME_CODE } from '../../../core/schedule/firing/occurrence.ts'
import type { NewOccurrence } from '../../../core/schedule/firing/settle-schedule.ts'
import { bigints, ints, smallints, texts } from '../connection/binary-arrays.ts'
import type { Queryable } from '../connection/statement.ts'

const ADD_OCCURRENCES = {
  name: 'add-occurrences',
  text: `
  INSERT INTO occurrence (at, schedule_id, project_id, version, nominal_at, until_at, id, count,
                          outcome, other_run_id, reason, detail)
  SELECT $1::bigint, * FROM unnest(
    $2::bigint[], $3::int[], $4::int[], $5::bigint[], $6::bigint[], $7::bigint[], $8::int[],
    $9::smallint[], $10::bigint[], $11::text[], $12::text[])`,
}

export interface OccurrenceOf extends NewOccurrence {
  readonly scheduleId: number
  readonly projectId: number
  readonly version: number
}

export async function addOccurrences(
  tx: Queryable,
  now: number,
  rows: readonly OccurrenceOf[],
): Promise<void> {
  if (rows.length === 0) return
  await tx.query(ADD_OCCURRENCES, [
    now,
    bigints(rows.map((row) => row.scheduleId)),
    ints(rows.map((row) => row.projectId)),
    ints(rows.map((row) => row.version)),
    bigints(rows.map((row) => row.nominalAt)),
    bigints(rows.map((row) => row.untilAt)),
    bigints(rows.map((row) => row.id)),
    ints(rows.map((row) => row.count)),
    smallints(rows.map((row) => OUTCOME_CODE[row.outcome])),
    bigints(rows.map((row) => row.otherRunId)),
    texts(rows.map((row) => row.reason)),
    texts(rows.map((row) => row.detail)),
  ])
}
