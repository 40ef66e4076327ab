import type { Database } from 'better-sqlite3'
import type { RunOrigin, RunQueries } from '../../port.ts'
import type { Sync } from '../connection/sync.ts'

const COLUMNS = (of: Partial<Record<keyof RunOrigin, string>>) =>
  (['scheduleId', 'backfillId', 'afterRunId', 'workflowRunId'] as const)
    .map((name) => `${of[name] ?? 'NULL'} AS ${name}`)
    .join(', ')

/**
 * Each origin is found by an index on the run. The first workflow comes first; a run has one
 * origin.
 */
export const ORIGIN_OF = `
  SELECT run_id AS runId, ${COLUMNS({ workflowRunId: 'min(flow_id)' })}
    FROM step WHERE run_id = :runId GROUP BY run_id
   UNION ALL
  SELECT id, ${COLUMNS({ scheduleId: 'schedule_id' })}
    FROM occurrence WHERE id = :runId AND outcome <= 2
   UNION ALL
  SELECT id, ${COLUMNS({ scheduleId: 'schedule_id' })}
    FROM void_occurrence WHERE id = :runId AND outcome <= 2
   UNION ALL
  SELECT run_id, ${COLUMNS({ scheduleId: 'schedule_id', backfillId: 'backfill_id' })}
    FROM backfill_time WHERE run_id = :runId
   UNION ALL
  SELECT run_id, ${COLUMNS({ afterRunId: 'source_run_id' })}
    FROM follow_up WHERE run_id = :runId
   LIMIT 1`

export function prepareOriginQueries(db: Database): Sync<Pick<RunQueries, 'originsOf'>> {
  const originOf = db.prepare<[object], RunOrigin>(ORIGIN_OF)
  return {
    originsOf: ({ runIds }) => runIds.flatMap((runId) => originOf.get({ runId }) ?? []),
  }
}
