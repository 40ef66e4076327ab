import { type FinalState, stateOfCode } from '../../../core/run/run-state.ts'
import type { News } from '../../port.ts'
import { bigints } from '../connection/binary-arrays.ts'
import { noteFollowed, someoneFollows } from './record-follow-ups.ts'
import { CLOCK, reportedElsewhere, type Work } from '../connection/statement.ts'

/** Whether anybody waits for one of these runs; where nobody waits for any, that costs nothing. */
export const someoneWaits = (ended: string) => `
    ((EXISTS (SELECT FROM awaited) AND EXISTS (
       SELECT FROM awaited WHERE run_id = ANY (ARRAY(SELECT run_id FROM ${ended}))))
     OR (EXISTS (SELECT FROM need) AND EXISTS (
       SELECT FROM need WHERE needed_id = ANY (ARRAY(SELECT run_id FROM ${ended}))))
     OR ${someoneFollows(ended)})`

/**
 * Of what was given, only runs that somebody waits for are looked up in history, and only those count
 * that ended in this very transaction: what ended before was told then. Nobody else deletes
 * what is deleted here, because nobody else has ended these runs.
 */
export const TELL = {
  name: 'tell',
  text: `
  WITH ${CLOCK},
  met AS MATERIALIZED (
    SELECT run_id FROM awaited WHERE run_id = ANY ($2::bigint[])
     UNION
    SELECT needed_id FROM need WHERE needed_id = ANY ($2::bigint[])),
  ended AS MATERIALIZED (
    SELECT met.run_id, e.state FROM met CROSS JOIN LATERAL (
      SELECT state FROM run_end
       WHERE run_end.run_id = met.run_id AND run_end.xmin = pg_current_xact_id()::xid LIMIT 1) e),
  gone AS (
    DELETE FROM awaited WHERE run_id = ANY (ARRAY(SELECT run_id FROM ended))
    RETURNING run_id, flow_id, step, item),
  news AS (
    INSERT INTO told (flow_id, step, item, state, at)
    SELECT flow_id, step, item, state, now FROM gone JOIN ended USING (run_id) CROSS JOIN clock
    RETURNING flow_id, step, item, state)
  SELECT true AS waits, flow_id AS "flowId", step, item, state, NULL::bigint AS "runId" FROM news
   UNION ALL
  SELECT true, NULL, NULL, NULL, NULL, run_id FROM need
   WHERE needed_id = ANY (ARRAY(SELECT run_id FROM ended))
   UNION ALL
  SELECT EXISTS (SELECT FROM awaited) OR EXISTS (SELECT FROM need) OR EXISTS (SELECT FROM follower), NULL, NULL, NULL, NULL, NULL`,
}

interface ToldRow {
  readonly waits: boolean
  readonly flowId: number | null
  readonly step: number
  readonly item: number
  readonly state: number
  readonly runId: number | null
}

export interface Told {
  readonly news: readonly News[]
  /** Whether anybody waits for any run. */
  readonly waits: boolean
}

export const NOTHING_TOLD: Told = { news: [], waits: false }

/** Tells those who wait for these runs which of them have ended, after whatever ended them here. */
export function tell(work: Work, now: number | null, runIds: readonly number[]): Promise<Told> {
  const answer = work.query<ToldRow>(TELL, [now, bigints(runIds)])
  const followed = noteFollowed(work, now, runIds)
  return reportedElsewhere(
    answer.then(async (rows) => ({
      news: [...rows.flatMap(toNews), ...(await followed)],
      waits: rows.some(({ waits }) => waits),
    })),
  )
}

function toNews({ flowId, step, item, state, runId }: ToldRow): News[] {
  if (flowId !== null) {
    return [{ kind: 'step', flowId, step, item, state: stateOfCode(state) as FinalState }]
  }
  return runId === null ? [] : [{ kind: 'need', runId }]
}
