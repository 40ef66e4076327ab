import type { RunOrigin } from '../../port.ts'
import { bigints } from '../connection/binary-arrays.ts'
import { type Database, pickLists } from '../database/database.ts'
import { read } from '../connection/transaction.ts'

const COLUMNS = (of: Partial<Record<keyof RunOrigin, string>>) =>
  (['scheduleId', 'backfillId', 'afterRunId', 'workflowRunId'] as const)
    .map((name) => `${of[name] ?? 'NULL::bigint'} AS "${name}"`)
    .join(', ')

/**
 * Each origin is found by an index on the run. Of several workflows it is the first; `+ 0` keeps
 * the planner from walking all steps in that order. A run has one origin.
 */
const ORIGINS_OF = {
  name: 'origins-of',
  text: `
  SELECT item.run_id AS "runId", origin.*
    FROM unnest($1::bigint[]) AS item (run_id)
   CROSS JOIN LATERAL (
     (SELECT ${COLUMNS({ workflowRunId: 'flow_id' })}
        FROM step WHERE step.run_id = item.run_id ORDER BY flow_id + 0 LIMIT 1)
      UNION ALL
     SELECT ${COLUMNS({ scheduleId: 'schedule_id' })}
       FROM occurrence WHERE occurrence.id = item.run_id AND outcome <= 2
      UNION ALL
     SELECT ${COLUMNS({ scheduleId: 'schedule_id' })}
       FROM void_occurrence WHERE void_occurrence.id = item.run_id AND outcome <= 2
      UNION ALL
     SELECT ${COLUMNS({ scheduleId: 'schedule_id', backfillId: 'backfill_id' })}
       FROM backfill_time WHERE backfill_time.run_id = item.run_id
      UNION ALL
     SELECT ${COLUMNS({ afterRunId: 'source_run_id' })}
       FROM follow_up WHERE follow_up.run_id = item.run_id
      LIMIT 1) origin`,
}

export function originsOf(
  db: Database,
  { runIds }: { readonly runIds: readonly number[] },
): Promise<RunOrigin[]> {
  return read<RunOrigin>(pickLists(db), ORIGINS_OF, [bigints(runIds)])
}
