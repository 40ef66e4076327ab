import { STEP_CODE } from '../../../core/run/step-state.ts'
import { type WorkflowTransition, type StepMark, StoreError } from '../../port.ts'
import { bigints, ints, smallints, texts } from '../connection/binary-arrays.ts'
import { CLOCK, type Queryable } from '../connection/statement.ts'

export const PROCESS_STEPS = {
  name: 'process-steps',
  text: `
  WITH processed AS (
    DELETE FROM told
     WHERE (flow_id, step, item) IN (
       SELECT * FROM unnest($1::bigint[], $2::int[], $3::int[]))
    RETURNING flow_id, step, item, state, at)
  UPDATE step SET state = processed.state, finished_at = processed.at FROM processed
   WHERE step.flow_id = processed.flow_id AND step.step = processed.step AND step.item = processed.item`,
}
export const MARK_STEPS = {
  name: 'mark-steps',
  text: `
  WITH ${CLOCK}
  INSERT INTO step AS s (flow_id, step, item, state, run_id, started_at, finished_at, due_at, count,
                         reason, message, detail)
  SELECT flow_id, step, item, state, run_id, now, CASE WHEN state >= 4 THEN now END, due_at, count,
         reason, message, detail
    FROM unnest($2::bigint[], $3::int[], $4::int[], $5::smallint[], $6::bigint[], $7::bigint[],
                $8::int[], $9::text[], $10::text[], $11::text[])
      AS t (flow_id, step, item, state, run_id, due_at, count, reason, message, detail)
   CROSS JOIN clock
      ON CONFLICT (flow_id, step, item) DO UPDATE
     SET state = excluded.state, run_id = excluded.run_id, finished_at = excluded.finished_at,
         due_at = excluded.due_at, count = excluded.count, reason = excluded.reason,
         message = excluded.message, detail = excluded.detail
   WHERE s.run_id IS NULL OR s.state <> ${STEP_CODE.running}
  RETURNING flow_id`,
}
/** An existing step was started already: then the whole batch is refused. */
export const START_STEPS = {
  name: 'start-steps',
  text: `
  WITH ${CLOCK},
  item AS MATERIALIZED (
    SELECT * FROM unnest($2::bigint[], $3::int[], $4::int[], $5::bigint[])
      AS t (flow_id, step, item, run_id)),
  awaiting AS (
    INSERT INTO awaited (run_id, flow_id, step, item)
    SELECT run_id, flow_id, step, item FROM item)
  INSERT INTO step (flow_id, step, item, state, run_id, started_at)
  SELECT flow_id, step, item, ${STEP_CODE.running}, run_id, now FROM item CROSS JOIN clock`,
}

/** Writes the step changes of transitions, whose workflows are locked. */
export async function writeSteps(
  tx: Queryable,
  now: number | null,
  transitions: readonly WorkflowTransition[],
): Promise<void> {
  const processed = allOf(transitions, ({ processed: keys }) => keys)
  const marks = lastOfEach(allOf(transitions, (transition) => transition.marks))
  const starts = allOf(transitions, (transition) => transition.starts)
  const writing: Promise<unknown>[] = []
  if (processed.length > 0) writing.push(tx.query(PROCESS_STEPS, keysOf(processed)))
  if (marks.length > 0) {
    writing.push(markSteps(tx, now, marks))
  }
  if (starts.length > 0) {
    const runs = bigints(starts.map(({ run }) => run.id))
    writing.push(tx.query(START_STEPS, [now, ...keysOf(starts), runs]))
  }
  await Promise.all(writing)
}

async function markSteps(
  tx: Queryable,
  now: number | null,
  marks: readonly InWorkflow<StepMark>[],
): Promise<void> {
  const written = await tx.query(MARK_STEPS, [
    now,
    ...keysOf(marks),
    smallints(marks.map(({ state }) => STEP_CODE[state])),
    bigints(marks.map(({ runId }) => runId)),
    bigints(marks.map(({ dueAt }) => dueAt)),
    ints(marks.map(({ count }) => count)),
    texts(marks.map(({ reason }) => reason)),
    texts(marks.map(({ message }) => message)),
    texts(marks.map(({ detail }) => detail)),
  ])
  if (written.length < marks.length)
    throw new StoreError('refused', 'the run of a step is under way')
}

/** One statement cannot update a row twice: of several marks of a step the last counts. */
function lastOfEach(marks: readonly InWorkflow<StepMark>[]): InWorkflow<StepMark>[] {
  const byKey = new Map(marks.map((one) => [`${one.workflowId} ${one.step} ${one.item}`, one]))
  return [...byKey.values()]
}

type InWorkflow<T> = T & { readonly workflowId: number }

function allOf<T extends object>(
  transitions: readonly WorkflowTransition[],
  read: (transition: WorkflowTransition) => readonly T[],
): InWorkflow<T>[] {
  return transitions.flatMap((transition) =>
    read(transition).map((one) => ({ ...one, workflowId: transition.runId })),
  )
}

function keysOf(list: readonly InWorkflow<{ step: number; item: number }>[]): unknown[] {
  return [
    bigints(list.map(({ workflowId }) => workflowId)),
    ints(list.map(({ step }) => step)),
    ints(list.map(({ item }) => item)),
  ]
}
