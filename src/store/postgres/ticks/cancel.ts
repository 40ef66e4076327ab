import { STATE_CODE, stateOfCode, type FinalState } from '../../../core/run/run-state.ts'
import { StoreError, type CancelCommand, type CancelVerdict, type Signal } from '../../port.ts'
import { bigints, ints } from '../connection/binary-arrays.ts'
import { IS_LIVE } from '../runs/live-workflow.ts'
import { CLOCK, type Queryable } from '../connection/statement.ts'
import { nameOfCancel } from './tick-plan.ts'

export interface Cancels {
  readonly now: number | null
  /** By `nameOfCancel`. */
  readonly verdicts: ReadonlyMap<string, CancelVerdict>
  /** A gate once per slot that was freed. */
  readonly gates: readonly number[]
  /** For workflows that were marked. */
  readonly signals: readonly Signal[]
}

/**
 * Looks for each run in all five tables and locks it where it is. A run that moved while the
 * statement waited for its row is in none of them as far as the statement can see; the next attempt
 * finds it.
 */
export const CANCEL = {
  name: 'cancel',
  text: `
  WITH ${CLOCK},
  item AS MATERIALIZED (
    SELECT t.run_id, run.* FROM unnest($2::bigint[], $3::int[]) AS t (run_id, project_id)
     CROSS JOIN LATERAL (
       SELECT run.project_id, run.gates, run.dedupe_key IS NOT NULL AS keyed
         FROM run WHERE run.id = t.run_id AND run.project_id = t.project_id LIMIT 1) run),
  in_ready AS MATERIALIZED (
    SELECT item.*, h.attempt, h.lost FROM item CROSS JOIN LATERAL (
      SELECT * FROM ready WHERE ready.run_id = item.run_id FOR UPDATE) h),
  in_timer AS MATERIALIZED (
    SELECT item.*, h.attempt, h.lost FROM item CROSS JOIN LATERAL (
      SELECT * FROM timer WHERE timer.run_id = item.run_id FOR UPDATE) h),
  in_blocked AS MATERIALIZED (
    SELECT item.*, h.attempt, h.lost FROM item CROSS JOIN LATERAL (
      SELECT * FROM blocked WHERE blocked.run_id = item.run_id FOR UPDATE) h),
  running AS MATERIALIZED (
    SELECT item.run_id, item.project_id, h.node FROM item CROSS JOIN LATERAL (
      SELECT * FROM lease WHERE lease.run_id = item.run_id FOR UPDATE) h),
  workflows AS MATERIALIZED (
    SELECT item.run_id, item.project_id, h.node FROM item CROSS JOIN LATERAL (
      SELECT * FROM flow WHERE flow.run_id = item.run_id AND ${IS_LIVE}
         FOR UPDATE) h),
  waiting AS MATERIALIZED (
    SELECT * FROM in_ready UNION ALL SELECT * FROM in_timer UNION ALL SELECT * FROM in_blocked),
  from_ready AS (DELETE FROM ready WHERE run_id = ANY (ARRAY(SELECT run_id FROM in_ready))),
  from_timer AS (DELETE FROM timer WHERE run_id = ANY (ARRAY(SELECT run_id FROM in_timer))),
  from_blocked AS (DELETE FROM blocked WHERE run_id = ANY (ARRAY(SELECT run_id FROM in_blocked))),
  forgotten AS (DELETE FROM need WHERE run_id = ANY (ARRAY(SELECT run_id FROM in_blocked))),
  to_end AS (
    INSERT INTO run_end (run_id, project_id, state, cause, attempt, lost, finished_at)
    SELECT run_id, project_id, ${STATE_CODE.cancelled}, 'cancelled', attempt, lost, now
      FROM waiting CROSS JOIN clock),
  marked AS (
    UPDATE lease SET cancelling = true
     WHERE run_id = ANY (ARRAY(SELECT run_id FROM running)) AND NOT cancelling),
  -- The new revision makes transitions that were decided without the cancel fail.
  dirtied AS (
    UPDATE flow SET cancelling = true, revision = revision + 1, look_at = now FROM clock
     WHERE run_id = ANY (ARRAY(SELECT run_id FROM workflows)) AND NOT cancelling
    RETURNING run_id),
  freed_key AS (
    DELETE FROM dedupe WHERE run_id = ANY (ARRAY(SELECT run_id FROM waiting WHERE keyed)))
  SELECT now, run_id AS "runId", project_id AS "projectId", NULL::int AS node, NULL::int AS gate,
         NULL::bigint AS dirtied
    FROM waiting CROSS JOIN clock
   UNION ALL
  SELECT now, run_id, project_id, node, NULL, NULL FROM running CROSS JOIN clock
   UNION ALL
  SELECT now, run_id, project_id, node, NULL, NULL FROM workflows CROSS JOIN clock
   UNION ALL
  SELECT now, NULL, NULL, NULL, NULL, run_id FROM dirtied CROSS JOIN clock
   UNION ALL
  SELECT now, NULL, NULL, NULL, place.gate, NULL
    FROM clock LEFT JOIN (SELECT unnest(gates) AS gate FROM in_ready) place ON true`,
}

const FIND_ENDS = {
  name: 'find-ends',
  text: `
  SELECT item.run_id AS "runId", item.project_id AS "projectId", ended.state
    FROM unnest($1::bigint[], $2::int[]) AS item (run_id, project_id)
   CROSS JOIN LATERAL (
     SELECT FROM run WHERE run.id = item.run_id AND run.project_id = item.project_id LIMIT 1) run
    LEFT JOIN LATERAL (SELECT state FROM run_end e WHERE e.run_id = item.run_id LIMIT 1) ended ON true`,
}

/** A moving run settles within a transaction or two; this many attempts mean something is wrong. */
const MAX_TRIES = 50

/** Commands in ascending order of run id, each run once. */
export async function cancelRuns(
  tx: Queryable,
  now: number | null,
  commands: readonly CancelCommand[],
): Promise<Cancels> {
  const verdicts = new Map<string, CancelVerdict>()
  const gates: number[] = []
  const signals: Signal[] = []
  let at: number | null = null
  let open = commands
  for (let tries = 0; open.length > 0; tries += 1) {
    if (tries === MAX_TRIES)
      throw new StoreError('unavailable', 'a run to cancel could not be locked: it kept moving')
    for (const row of await cancelFound(tx, now, open)) {
      at ??= row.now
      if (row.gate !== null) gates.push(row.gate)
      if (row.dirtied !== null) signals.push({ kind: 'cancel', workflowId: row.dirtied })
      if (row.runId !== null) verdicts.set(nameOfCancel(row as CancelCommand), verdictOn(row))
    }
    open = await settle(
      tx,
      open.filter((command) => !verdicts.has(nameOfCancel(command))),
      verdicts,
    )
  }
  return { now: at, verdicts, gates, signals }
}

interface Found {
  readonly now: number
  readonly runId: number | null
  readonly projectId: number | null
  readonly node: number | null
  readonly gate: number | null
  readonly dirtied: number | null
}

async function cancelFound(
  tx: Queryable,
  now: number | null,
  commands: readonly CancelCommand[],
): Promise<Found[]> {
  return tx.query<Found>(CANCEL, [now, ...columns(commands)])
}

function verdictOn({ node }: Found): CancelVerdict {
  return node === null ? { kind: 'cancelled' } : { kind: 'marked', node }
}

/**
 * Gives verdicts on runs that have ended or never existed; returns the others, which are moving.
 */
async function settle(
  tx: Queryable,
  rest: readonly CancelCommand[],
  verdicts: Map<string, CancelVerdict>,
): Promise<readonly CancelCommand[]> {
  if (rest.length === 0) return rest
  const rows = await tx.query<CancelCommand & { state: number | null }>(FIND_ENDS, columns(rest))
  const known = new Map(rows.map((row) => [nameOfCancel(row), row.state]))
  const moving: CancelCommand[] = []
  for (const command of rest) {
    const state = known.get(nameOfCancel(command))
    if (state === null) moving.push(command)
    else verdicts.set(nameOfCancel(command), state === undefined ? UNKNOWN : finalIn(state))
  }
  return moving
}

const UNKNOWN: CancelVerdict = { kind: 'unknown' }

function finalIn(state: number): CancelVerdict {
  return { kind: 'final', state: stateOfCode(state) as FinalState }
}

function columns(commands: readonly CancelCommand[]): unknown[] {
  return [
    bigints(commands.map(({ runId }) => runId)),
    ints(commands.map(({ projectId }) => projectId)),
  ]
}
