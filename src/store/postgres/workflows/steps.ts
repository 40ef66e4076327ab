import { STEP_CODE } from '../../../core/run/step-state.ts'
import { type FlowMove, type StepMark, StoreError } from '../../port.ts'
import { bigints, ints, smallints, texts } from '../connection/binary-arrays.ts'
import { CLOCK, type Work } from '../connection/statement.ts'

export const HEAR_STEPS = {
  name: 'hear-steps',
  text: `
  WITH heard AS (
    DELETE FROM told
     WHERE (flow_id, step, item) IN (
       SELECT * FROM unnest($1::bigint[], $2::int[], $3::int[]))
    RETURNING flow_id, step, item, state, at)
  UPDATE step SET state = heard.state, finished_at = heard.at FROM heard
   WHERE step.flow_id = heard.flow_id AND step.step = heard.step AND step.item = heard.item`,
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
/** A step that is there already has been started: then nothing of the batch happens. */
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

/** Writes down what moves say about steps of flows that are locked. */
export async function writeSteps(
  work: Work,
  now: number | null,
  moves: readonly FlowMove[],
): Promise<void> {
  const heard = allOf(moves, ({ heard: keys }) => keys)
  const marks = lastOfEach(allOf(moves, (move) => move.marks))
  const starts = allOf(moves, (move) => move.starts)
  const writing: Promise<unknown>[] = []
  if (heard.length > 0) writing.push(work.query(HEAR_STEPS, keysOf(heard)))
  if (marks.length > 0) {
    writing.push(markSteps(work, now, marks))
  }
  if (starts.length > 0) {
    const runs = bigints(starts.map(({ run }) => run.id))
    writing.push(work.query(START_STEPS, [now, ...keysOf(starts), runs]))
  }
  await Promise.all(writing)
}

async function markSteps(
  work: Work,
  now: number | null,
  marks: readonly InFlow<StepMark>[],
): Promise<void> {
  const written = await work.query(MARK_STEPS, [
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
  if (written.length < marks.length) throw new StoreError('refused', 'a step is under way')
}

/** One statement cannot do the same thing to a row twice: of what is said of a step the last counts. */
function lastOfEach(marks: readonly InFlow<StepMark>[]): InFlow<StepMark>[] {
  const byKey = new Map(marks.map((one) => [`${one.flowId} ${one.step} ${one.item}`, one]))
  return [...byKey.values()]
}

type InFlow<T> = T & { readonly flowId: number }

function allOf<T extends object>(
  moves: readonly FlowMove[],
  read: (move: FlowMove) => readonly T[],
): InFlow<T>[] {
  return moves.flatMap((move) => read(move).map((one) => ({ ...one, flowId: move.runId })))
}

function keysOf(list: readonly InFlow<{ step: number; item: number }>[]): unknown[] {
  return [
    bigints(list.map(({ flowId }) => flowId)),
    ints(list.map(({ step }) => step)),
    ints(list.map(({ item }) => item)),
  ]
}
