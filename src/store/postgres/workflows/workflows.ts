import { STATE_CODE } from '../../../core/run/run-state.ts'
import { sortSignals } from '../../signals.ts'
import type {
  AdvanceResult,
  WorkflowBatch,
  WorkflowOutcome,
  WorkflowTransition,
  WorkflowRevision,
  WorkflowStore,
  NewRun,
} from '../../port.ts'
import { addAudit } from '../audit/audit.ts'
import { bigints, smallints, texts } from '../connection/binary-arrays.ts'
import type { Database } from '../database/database.ts'
import { admitWaiting, isLater, decideAdmission } from '../gates/admit-new-runs.ts'
import { IS_LIVE } from '../runs/live-workflow.ts'
import { NO_SIGNALS, emitSignals } from '../signals/emit-signals.ts'
import { recordOutboxEvents } from '../webhooks/outbox.ts'
import { CLOCK, reportedElsewhere, type Queryable } from '../connection/statement.ts'
import { writeSteps } from './steps.ts'
import { insertRuns } from '../ticks/submit.ts'
import { read, transact } from '../connection/transaction.ts'

/** In ascending order, so that two transactions on the same workflows never wait for each other. */
export const LOCK_WORKFLOWS = {
  name: 'lock-workflows',
  text: `
  SELECT held.run_id AS "runId", held.revision FROM unnest($1::bigint[]) AS item (run_id)
   CROSS JOIN LATERAL (
     SELECT run_id, revision FROM flow
      WHERE flow.run_id = item.run_id AND ${IS_LIVE}
        FOR UPDATE) held`,
}
export const ADVANCE_WORKFLOWS = {
  name: 'advance-workflows',
  text: `
  WITH ${CLOCK}
  UPDATE flow SET revision = revision + 1, node = $2::int, look_at = item.look_at,
         ended_at = CASE WHEN item.ends THEN now END
    FROM unnest($3::bigint[], $4::bigint[], $5::boolean[]) AS item (run_id, look_at, ends)
   CROSS JOIN clock
   WHERE flow.run_id = item.run_id
  RETURNING now`,
}
export const END_WORKFLOWS = {
  name: 'end-workflows',
  text: `
  WITH ${CLOCK},
  item AS MATERIALIZED (
    SELECT * FROM unnest($2::bigint[], $3::smallint[], $4::text[], $5::text[], $6::text[])
      AS t (run_id, state, cause, message, result)),
  -- No transition follows the end of a workflow, so its unprocessed steps need no more processing.
  unprocessed AS (
    DELETE FROM told WHERE flow_id = ANY ($2::bigint[])
    RETURNING flow_id, step, item, state, at),
  processed AS (
    UPDATE step SET state = unprocessed.state, finished_at = unprocessed.at FROM unprocessed
     WHERE step.flow_id = unprocessed.flow_id AND step.step = unprocessed.step
       AND step.item = unprocessed.item),
  freed_key AS (DELETE FROM dedupe WHERE run_id = ANY ($2::bigint[])),
  to_end AS (
    INSERT INTO run_end (run_id, project_id, state, cause, attempt, lost, message, result,
                         started_at, finished_at)
    SELECT item.run_id, f.project_id, item.state, item.cause, f.attempt, f.lost, item.message,
           item.result, f.began_at, now
      FROM item CROSS JOIN clock
     CROSS JOIN LATERAL (SELECT * FROM flow WHERE flow.run_id = item.run_id LIMIT 1) f)
  SELECT unnest(spec.gates) AS gate FROM item
   CROSS JOIN LATERAL (SELECT gates FROM run WHERE run.id = item.run_id LIMIT 1) spec`,
}
/** Runs may outlive a workflow that was given up; their ends count only if the workflow is live. */
const DIRTY_WORKFLOWS = {
  name: 'dirty-workflows',
  text: `
  WITH ${CLOCK}
  SELECT * FROM (
    SELECT run_id AS "runId", revision FROM flow
     WHERE look_at <= (SELECT now FROM clock) ORDER BY look_at LIMIT $2::int) due
   UNION
  SELECT flow.run_id, flow.revision FROM (
    SELECT DISTINCT flow_id FROM told
     WHERE at <= (SELECT now FROM clock) - $3::bigint) late
   CROSS JOIN LATERAL (
     SELECT run_id, revision FROM flow
      WHERE flow.run_id = late.flow_id AND ${IS_LIVE} LIMIT 1) flow
   LIMIT $2::int`,
}
const READ_CLOCK = { name: 'read-clock', text: `WITH ${CLOCK} SELECT now FROM clock` }

export async function dirtyWorkflows(
  db: Database,
  { limit, olderThanMs }: Parameters<WorkflowStore['dirtyWorkflows']>[0],
): Promise<WorkflowRevision[]> {
  return read<WorkflowRevision>(db.duty, DIRTY_WORKFLOWS, [db.now(), limit, olderThanMs])
}

export async function advanceWorkflows(
  db: Database,
  { node, transitions }: WorkflowBatch,
): Promise<AdvanceResult> {
  await db.weeks.ensure(transitions.flatMap(({ starts }) => starts.map(({ run }) => run.id)))
  return transact(db.duty, async (tx) => {
    const ids = [...new Set(transitions.map(({ runId }) => runId))].toSorted((a, b) => a - b)
    const rows = await tx.query<WorkflowRevision>(LOCK_WORKFLOWS, [bigints(ids)])
    const revisions = new Map(rows.map(({ runId, revision }) => [runId, revision]))
    // One statement cannot update a row twice: of two transitions of a workflow the first counts.
    const isMade = transitions.map(
      ({ runId, revision }) => revisions.get(runId) === revision && revisions.delete(runId),
    )
    const advanced = transitions.filter((_, index) => isMade[index])
    const verdicts = isMade.map((made) => (made ? ('advanced' as const) : ('behind' as const)))
    return { verdicts, ...(await make(tx, db.now(), node, advanced)) }
  })
}

/** Gates come after workflows and before webhook events, as in a tick. */
async function make(
  tx: Queryable,
  testNow: number | null,
  node: number,
  transitions: readonly WorkflowTransition[],
): Promise<Omit<AdvanceResult, 'verdicts'>> {
  if (transitions.length === 0) {
    const [row] = await tx.query<{ now: number }>(READ_CLOCK, [testNow])
    return { now: row!.now, started: [], lanes: [], nextDueAt: null, signals: [] }
  }
  const moving = reportedElsewhere(advance(tx, testNow, node, transitions))
  const writing = reportedElsewhere(writeSteps(tx, testNow, transitions))
  for (const { audit } of transitions) if (audit) await addAudit(tx, testNow, audit)
  const ended = transitions.flatMap(({ runId, end }) => (end ? [{ runId, end }] : []))
  const freed = ended.length > 0 ? await endWorkflows(tx, testNow, ended) : []
  const runs = transitions
    .flatMap(({ starts }) => starts.map(({ run }) => run))
    .toSorted((a, b) => a.id - b.id)
  const { started, lanes, nextDueAt } = await startRuns(tx, testNow, node, runs, freed)
  const endedIds = ended.map(({ runId }) => runId)
  if (ended.length > 0) await recordOutboxEvents(tx, testNow, endedIds)
  const emitted = ended.length > 0 ? await emitSignals(tx, testNow, endedIds) : NO_SIGNALS
  await writing
  return { now: await moving, started, lanes, nextDueAt, signals: sortSignals(emitted.signals) }
}

async function advance(
  tx: Queryable,
  now: number | null,
  node: number,
  transitions: readonly WorkflowTransition[],
): Promise<number> {
  const [row] = await tx.query<{ now: number }>(ADVANCE_WORKFLOWS, [
    now,
    node,
    bigints(transitions.map(({ runId }) => runId)),
    bigints(transitions.map(({ checkAt, end }) => (end ? null : checkAt))),
    transitions.map(({ end }) => end !== null),
  ])
  return row!.now
}

async function endWorkflows(
  tx: Queryable,
  now: number | null,
  ended: readonly { readonly runId: number; readonly end: WorkflowOutcome }[],
): Promise<number[]> {
  const rows = await tx.query<{ gate: number }>(END_WORKFLOWS, [
    now,
    bigints(ended.map(({ runId }) => runId)),
    smallints(ended.map(({ end }) => STATE_CODE[end.state])),
    texts(ended.map(({ end }) => end.cause)),
    texts(ended.map(({ end }) => end.message)),
    texts(ended.map(({ end }) => end.result)),
  ])
  return rows.map(({ gate }) => gate)
}

/**
 * Inserts runs in their final state: leased to a reserved session, in their lanes, or blocked at
 * their gates.
 */
export async function startRuns(
  tx: Queryable,
  testNow: number | null,
  node: number,
  runs: readonly NewRun[],
  freed: readonly number[],
): Promise<Pick<AdvanceResult, 'started' | 'lanes' | 'nextDueAt'>> {
  const admission = await decideAdmission(tx, testNow, runs, freed)
  const submission =
    runs.length > 0
      ? await insertRuns(tx, testNow, node, runs, { assumeNew: true, admission })
      : null
  const admitted = await admitWaiting(tx, admission)
  const now = submission?.now ?? null
  const passing = runs
    .filter((run) => !isLater(run, now))
    .filter(({ id, gates }) => gates.length === 0 || admission.passes.has(id))
  const ready = passing.filter(({ reservation }) => !reservation).map(({ laneId }) => laneId)
  return {
    started: passing.filter(({ reservation }) => reservation).map(({ id }) => id),
    lanes: [...new Set([...ready, ...admitted])].toSorted((a, b) => a - b),
    nextDueAt: submission?.nextDueAt ?? null,
  }
}
