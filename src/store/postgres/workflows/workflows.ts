import { STATE_CODE } from '../../../core/run/run-state.ts'
import { inOrder } from '../../signals.ts'
import type {
  FlowAdvance,
  FlowBatch,
  FlowEnd,
  FlowMove,
  FlowPlace,
  FlowStore,
  NewRun,
} from '../../port.ts'
import { addAudit } from '../audit/audit.ts'
import { bigints, smallints, texts } from '../connection/binary-arrays.ts'
import type { Database } from '../database/database.ts'
import { admitLines, isLater, openEntrance } from '../gates/admission.ts'
import { IS_LIVE } from './workflow-queries.ts'
import { NOTHING_TOLD, tell } from '../signals/emit-signals.ts'
import { noteEnds } from '../webhooks/outbox.ts'
import { CLOCK, reportedElsewhere, type Work } from '../connection/statement.ts'
import { writeSteps } from './steps.ts'
import { insertRuns } from '../ticks/submit.ts'
import { read, transact } from '../connection/transaction.ts'

/** In ascending order, so that two who move the same flows never wait for each other. */
export const LOCK_FLOWS = {
  name: 'lock-flows',
  text: `
  SELECT held.run_id AS "runId", held.revision FROM unnest($1::bigint[]) AS item (run_id)
   CROSS JOIN LATERAL (
     SELECT run_id, revision FROM flow
      WHERE flow.run_id = item.run_id AND ${IS_LIVE}
        FOR UPDATE) held`,
}
export const MOVE_FLOWS = {
  name: 'move-flows',
  text: `
  WITH ${CLOCK}
  UPDATE flow SET revision = revision + 1, node = $2::int, look_at = item.look_at,
         ended_at = CASE WHEN item.ends THEN now END
    FROM unnest($3::bigint[], $4::bigint[], $5::boolean[]) AS item (run_id, look_at, ends)
   CROSS JOIN clock
   WHERE flow.run_id = item.run_id
  RETURNING now`,
}
export const END_FLOWS = {
  name: 'end-flows',
  text: `
  WITH ${CLOCK},
  item AS MATERIALIZED (
    SELECT * FROM unnest($2::bigint[], $3::smallint[], $4::text[], $5::text[], $6::text[])
      AS t (run_id, state, cause, message, result)),
  -- Nobody goes on with a flow that is over, and what ended last need not be heard.
  unheard AS (
    DELETE FROM told WHERE flow_id = ANY ($2::bigint[])
    RETURNING flow_id, step, item, state, at),
  heard AS (
    UPDATE step SET state = unheard.state, finished_at = unheard.at FROM unheard
     WHERE step.flow_id = unheard.flow_id AND step.step = unheard.step
       AND step.item = unheard.item),
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
/** Runs may outlive a flow that was given up. What they tell it is counted only once it is known to live. */
const RESTLESS = {
  name: 'restless-flows',
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

export async function restlessFlows(
  db: Database,
  { limit, olderThanMs }: Parameters<FlowStore['restlessFlows']>[0],
): Promise<FlowPlace[]> {
  return read<FlowPlace>(db.duty, RESTLESS, [db.now(), limit, olderThanMs])
}

export async function advanceFlows(db: Database, { node, moves }: FlowBatch): Promise<FlowAdvance> {
  await db.weeks.ensure(moves.flatMap(({ starts }) => starts.map(({ run }) => run.id)))
  return transact(db.duty, async (work) => {
    const ids = [...new Set(moves.map(({ runId }) => runId))].toSorted((a, b) => a - b)
    const rows = await work.query<FlowPlace>(LOCK_FLOWS, [bigints(ids)])
    const places = new Map(rows.map(({ runId, revision }) => [runId, revision]))
    // One statement cannot do the same thing to a row twice: of two moves of a flow the first counts.
    const isMade = moves.map(
      ({ runId, revision }) => places.get(runId) === revision && places.delete(runId),
    )
    const advanced = moves.filter((_, index) => isMade[index])
    const verdicts = isMade.map((made) => (made ? ('advanced' as const) : ('behind' as const)))
    return { verdicts, ...(await make(work, db.now(), node, advanced)) }
  })
}

/** Gates come after flows and before what a webhook is told, as in a tick. */
async function make(
  work: Work,
  testNow: number | null,
  node: number,
  moves: readonly FlowMove[],
): Promise<Omit<FlowAdvance, 'verdicts'>> {
  if (moves.length === 0) {
    const [row] = await work.query<{ now: number }>(READ_CLOCK, [testNow])
    return { now: row!.now, started: [], lanes: [], nextDueAt: null, news: [] }
  }
  const moving = reportedElsewhere(moveOn(work, testNow, node, moves))
  const writing = reportedElsewhere(writeSteps(work, testNow, moves))
  for (const { audit } of moves) if (audit) await addAudit(work, testNow, audit)
  const ended = moves.flatMap(({ runId, end }) => (end ? [{ runId, end }] : []))
  const freed = ended.length > 0 ? await endFlows(work, testNow, ended) : []
  const runs = moves
    .flatMap(({ starts }) => starts.map(({ run }) => run))
    .toSorted((a, b) => a.id - b.id)
  const { started, lanes, nextDueAt } = await startRuns(work, testNow, node, runs, freed)
  const endedIds = ended.map(({ runId }) => runId)
  if (ended.length > 0) await noteEnds(work, testNow, endedIds)
  const told = ended.length > 0 ? await tell(work, testNow, endedIds) : NOTHING_TOLD
  await writing
  return { now: await moving, started, lanes, nextDueAt, news: inOrder(told.news) }
}

async function moveOn(
  work: Work,
  now: number | null,
  node: number,
  moves: readonly FlowMove[],
): Promise<number> {
  const [row] = await work.query<{ now: number }>(MOVE_FLOWS, [
    now,
    node,
    bigints(moves.map(({ runId }) => runId)),
    bigints(moves.map(({ lookAt, end }) => (end ? null : lookAt))),
    moves.map(({ end }) => end !== null),
  ])
  return row!.now
}

async function endFlows(
  work: Work,
  now: number | null,
  ended: readonly { readonly runId: number; readonly end: FlowEnd }[],
): Promise<number[]> {
  const rows = await work.query<{ gate: number }>(END_FLOWS, [
    now,
    bigints(ended.map(({ runId }) => runId)),
    smallints(ended.map(({ end }) => STATE_CODE[end.state])),
    texts(ended.map(({ end }) => end.cause)),
    texts(ended.map(({ end }) => end.message)),
    texts(ended.map(({ end }) => end.result)),
  ])
  return rows.map(({ gate }) => gate)
}

/** Writes runs where they will be: with whom they were promised to, in their lanes, before their gates. */
export async function startRuns(
  work: Work,
  testNow: number | null,
  node: number,
  runs: readonly NewRun[],
  freed: readonly number[],
): Promise<Pick<FlowAdvance, 'started' | 'lanes' | 'nextDueAt'>> {
  const entrance = await openEntrance(work, testNow, runs, freed)
  const submission =
    runs.length > 0
      ? await insertRuns(work, testNow, node, runs, { hopeful: true, entrance })
      : null
  const admitted = await admitLines(work, entrance)
  const now = submission?.now ?? null
  const passing = runs
    .filter((run) => !isLater(run, now))
    .filter(({ id, gates }) => gates.length === 0 || entrance.passes.has(id))
  const ready = passing.filter(({ handOff }) => !handOff).map(({ laneId }) => laneId)
  return {
    started: passing.filter(({ handOff }) => handOff).map(({ id }) => id),
    lanes: [...new Set([...ready, ...admitted])].toSorted((a, b) => a - b),
    nextDueAt: submission?.nextDueAt ?? null,
  }
}
