import { type FinalState, stateOfCode } from '../../../core/run/run-state.ts'
import type { Signal } from '../../port.ts'
import { bigints } from '../connection/binary-arrays.ts'
import { recordFollowUps, hasFollowers } from './record-follow-ups.ts'
import { CLOCK, reportedElsewhere, type Queryable } from '../connection/statement.ts'

/** Whether anything waits for one of these runs; costs nothing where no run is waited for. */
export const hasWaiters = (ended: string) => `
    ((EXISTS (SELECT FROM awaited) AND EXISTS (
       SELECT FROM awaited WHERE run_id = ANY (ARRAY(SELECT run_id FROM ${ended}))))
     OR (EXISTS (SELECT FROM need) AND EXISTS (
       SELECT FROM need WHERE needed_id = ANY (ARRAY(SELECT run_id FROM ${ended}))))
     OR ${hasFollowers(ended)})`

/**
 * Only runs that something waits for are looked up in history, and only those count that ended in
 * this transaction: earlier ends were signalled then. No other transaction deletes these rows,
 * because no other has ended these runs.
 */
export const EMIT_SIGNALS = {
  name: 'emit-signals',
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
  deleted AS (
    DELETE FROM awaited WHERE run_id = ANY (ARRAY(SELECT run_id FROM ended))
    RETURNING run_id, flow_id, step, item),
  signals AS (
    INSERT INTO told (flow_id, step, item, state, at)
    SELECT flow_id, step, item, state, now FROM deleted JOIN ended USING (run_id) CROSS JOIN clock
    RETURNING flow_id, step, item, state)
  SELECT true AS waits, flow_id AS "workflowId", step, item, state, NULL::bigint AS "runId" FROM signals
   UNION ALL
  SELECT true, NULL, NULL, NULL, NULL, run_id FROM need
   WHERE needed_id = ANY (ARRAY(SELECT run_id FROM ended))
   UNION ALL
  SELECT EXISTS (SELECT FROM awaited) OR EXISTS (SELECT FROM need) OR EXISTS (SELECT FROM follower), NULL, NULL, NULL, NULL, NULL`,
}

interface SignalRow {
  readonly waits: boolean
  readonly workflowId: number | null
  readonly step: number
  readonly item: number
  readonly state: number
  readonly runId: number | null
}

export interface EmittedSignals {
  readonly signals: readonly Signal[]
  /** Whether anything waits for any run. */
  readonly waits: boolean
}

export const NO_SIGNALS: EmittedSignals = { signals: [], waits: false }

/**
 * Emits signals for runs and workflows that wait for these runs. Call it after the statements that
 * end them, in the same transaction.
 */
export function emitSignals(
  tx: Queryable,
  now: number | null,
  runIds: readonly number[],
): Promise<EmittedSignals> {
  const answer = tx.query<SignalRow>(EMIT_SIGNALS, [now, bigints(runIds)])
  const followed = recordFollowUps(tx, now, runIds)
  return reportedElsewhere(
    answer.then(async (rows) => ({
      signals: [...rows.flatMap(toSignals), ...(await followed)],
      waits: rows.some(({ waits }) => waits),
    })),
  )
}

function toSignals({ workflowId, step, item, state, runId }: SignalRow): Signal[] {
  if (workflowId !== null) {
    return [{ kind: 'step', workflowId, step, item, state: stateOfCode(state) as FinalState }]
  }
  return runId === null ? [] : [{ kind: 'need', runId }]
}
