import { STATE_CODE, stateOfCode, type RunState } from '../../../core/run/run-state.ts'
import type { AttemptRecord, RunListFilter, RunQueries, RunRecord } from '../../port.ts'
import { bigints } from '../connection/binary-arrays.ts'
import { type Database, pickLists } from '../database/database.ts'
import { IS_LIVE } from './live-workflow.ts'
import { KEEP_INDEX_ORDER, keyRange } from './key-range.ts'
import type { Statement, Queryable } from '../connection/statement.ts'
import { read, transact } from '../connection/transaction.ts'

/** A run and its state from the six tables that may hold it, all as of one moment. */
const RECORD = `
  SELECT r.id, r.project_id AS "projectId", r.job_id AS "jobId", r.lane_id AS "laneId", r.rank,
         CASE WHEN e.run_id IS NOT NULL THEN e.state
              WHEN l.run_id IS NOT NULL OR f.run_id IS NOT NULL THEN ${STATE_CODE.running}
              WHEN t.run_id IS NOT NULL THEN ${STATE_CODE.scheduled}
              WHEN b.run_id IS NOT NULL THEN ${STATE_CODE.blocked}
              ELSE ${STATE_CODE.ready} END AS state,
         coalesce(l.cancelling, f.cancelling, false) AS cancelling,
         coalesce(e.attempt, l.attempt, q.attempt, t.attempt, b.attempt, f.attempt) AS attempt,
         coalesce(e.fence, l.fence) AS fence,
         coalesce(e.lost, l.lost, q.lost, t.lost, b.lost, f.lost) AS lost,
         e.cause, e.message,
         CASE WHEN l.run_id IS NULL THEN e.worker
              ELSE (SELECT name FROM session WHERE session.id = l.session) END AS worker,
         r.created_at AS "createdAt", r.due_at AS "dueAt",
         coalesce(e.started_at, l.started_at, f.began_at) AS "startedAt", e.finished_at AS "finishedAt",
         r.timeout_ms AS "timeoutMs", r.policy, r.version, r.created_by AS "createdBy", r.work, r.input,
         e.result, e.process, r.tags,
         coalesce(r.gates, '{}') AS gates, r.retry_of AS "retryOf"`
const STATE_TABLES = `
    LEFT JOIN LATERAL (SELECT * FROM run_end WHERE run_id = r.id LIMIT 1) e ON true
    LEFT JOIN LATERAL (SELECT * FROM lease WHERE run_id = r.id LIMIT 1) l ON true
    LEFT JOIN LATERAL (SELECT * FROM ready WHERE run_id = r.id LIMIT 1) q ON true
    LEFT JOIN LATERAL (SELECT * FROM timer WHERE run_id = r.id LIMIT 1) t ON true
    LEFT JOIN LATERAL (SELECT * FROM blocked WHERE run_id = r.id LIMIT 1) b ON true
    LEFT JOIN LATERAL (
      SELECT * FROM flow WHERE run_id = r.id AND ${IS_LIVE} LIMIT 1) f ON true`

const FIND_RUN = {
  name: 'find-run',
  text: `${RECORD}
    FROM run r ${STATE_TABLES}
   WHERE r.id = $2::bigint AND r.project_id = $1::int`,
}
export const FIND_RUNS = {
  name: 'find-runs',
  text: `${RECORD}
    FROM unnest($1::bigint[]) AS wanted (id)
   CROSS JOIN LATERAL (SELECT * FROM run WHERE run.id = wanted.id LIMIT 1) r ${STATE_TABLES}`,
}
const ATTEMPTS_OF = {
  name: 'attempts-of',
  text: `
  SELECT attempt, fence, cause, message, worker, process, started_at AS "startedAt",
         finished_at AS "finishedAt"
    FROM attempt WHERE run_id = $1::bigint ORDER BY fence`,
}
const LIVE_COUNTS = {
  name: 'live-counts',
  text: `
  SELECT (SELECT count(*) FROM ready) AS ready, (SELECT count(*) FROM timer) AS scheduled,
         (SELECT count(*) FROM blocked) AS blocked,
         (SELECT count(*) FROM lease)
           + (SELECT count(*) FROM flow WHERE ended_at IS NULL) AS running`,
}

const SPEC_OF = (id: string) =>
  `CROSS JOIN LATERAL (SELECT id, project_id, job_id FROM run WHERE run.id = ${id} LIMIT 1) run`
const BOUNDS = { before: '$2::bigint', from: '0::bigint' }
/** The sum selects the index of live workflows, instead of a walk through all ended ones. */
export const UNDER_WAY = `(
      SELECT run_id FROM lease
       UNION ALL SELECT run_id + 0 AS run_id FROM flow WHERE ended_at IS NULL)`

interface Page {
  readonly id: string
  readonly from: string
  readonly where: string
  readonly order: string
}

function inHistory(ofJob: boolean): Page {
  const [owner, value] = ofJob ? ['run.job_id', '$4::int'] : ['run.project_id', '$1::int']
  return { id: 'run.id', from: 'run', ...keyRange([owner, 'run.id'], [value], BOUNDS) }
}

function inHotTable(table: string): Page {
  const id = 'hot.run_id'
  const from = `${table} hot ${SPEC_OF(id)}`
  return { id, from, where: `${id} < $2::bigint`, order: `${id} DESC` }
}

/** These ends are few, and have their own index. */
function amongEnds(state: 'failed' | 'cancelled' | 'skipped'): Page {
  const [id, code] = ['ended.run_id', `${STATE_CODE[state]}`]
  const key = ['ended.project_id', 'ended.state', id]
  const { where, order } = keyRange(key, ['$1::int', code], BOUNDS)
  const from = `run_end ended ${SPEC_OF(id)}`
  return { id, from, where: `ended.state = ${code} AND ${where}`, order }
}

/** Where to look for runs in a state. */
function pageOf(state: RunState | 'any', ofJob: boolean): Page {
  switch (state) {
    case 'any':
      return inHistory(ofJob)
    case 'succeeded': {
      // Most runs succeed: walking back through history finds a page of them soon.
      const { where, ...page } = inHistory(ofJob)
      const hasSucceeded = `(
        SELECT state FROM run_end WHERE run_id = run.id) = ${STATE_CODE.succeeded}`
      return { ...page, where: `${where} AND ${hasSucceeded}` }
    }
    case 'failed':
    case 'cancelled':
    case 'skipped':
      return amongEnds(state)
    case 'ready':
      return inHotTable('ready')
    case 'scheduled':
      return inHotTable('timer')
    case 'blocked':
      return inHotTable('blocked')
    case 'running':
      return inHotTable(UNDER_WAY)
  }
}

/** A subquery for each row, so that no plan reads all steps there are. */
const isNoStep = (id: string) =>
  `AND (SELECT 1 FROM step WHERE step.run_id = ${id} LIMIT 1) IS NULL`

export function listStatement(
  state: RunState | 'any',
  { ofJob, withoutSteps }: { ofJob: boolean; withoutSteps: boolean },
): Statement {
  const { id, from, where, order } = pageOf(state, ofJob)
  return {
    name: `list-${state}${ofJob ? '-of-job' : ''}${withoutSteps ? '-no-steps' : ''}`,
    text: `${RECORD}
      FROM (SELECT ${id} AS id FROM ${from}
             WHERE ${where} AND run.project_id + 0 = $1::int
               ${ofJob ? 'AND run.job_id + 0 = $4::int' : ''} ${withoutSteps ? isNoStep(id) : ''}
             ORDER BY ${order} LIMIT $3::int) page
     CROSS JOIN LATERAL (SELECT * FROM run WHERE run.id = page.id LIMIT 1) r
      ${STATE_TABLES}
     ORDER BY r.id DESC`,
  }
}

export type RunRow = Omit<RunRecord, 'state'> & { readonly state: number }

export async function findRun(
  db: Database,
  { projectId, runId }: { projectId: number; runId: number },
): Promise<RunRecord | null> {
  const [row] = await read<RunRow>(db.reading, FIND_RUN, [projectId, runId])
  return row ? toRunRecord(row) : null
}

export async function findRuns(
  db: Database,
  { runIds }: { runIds: readonly number[] },
): Promise<RunRecord[]> {
  return (await read<RunRow>(db.reading, FIND_RUNS, [bigints(runIds)])).map(toRunRecord)
}

export async function attemptsOf(
  db: Database,
  { runId }: { runId: number },
): Promise<AttemptRecord[]> {
  return read<AttemptRecord>(db.reading, ATTEMPTS_OF, [runId])
}

export async function listRuns(
  db: Database,
  { projectId, state, jobId, withoutSteps = false, before, limit }: RunListFilter,
): Promise<RunRecord[]> {
  const statement = listStatement(state ?? 'any', { ofJob: jobId !== null, withoutSteps })
  const values = [projectId, before, limit, ...(jobId === null ? [] : [jobId])]
  const readPage = async (tx: Queryable) => {
    void tx.query(KEEP_INDEX_ORDER)
    return tx.query<RunRow>(statement, values)
  }
  return (await transact(pickLists(db), readPage, 'snapshot')).map(toRunRecord)
}

export async function liveCounts(db: Database): ReturnType<RunQueries['liveCounts']> {
  type Counts = Awaited<ReturnType<RunQueries['liveCounts']>>
  const [counts] = await read<Counts>(pickLists(db), LIVE_COUNTS)
  return counts!
}

export function toRunRecord(row: RunRow): RunRecord {
  return { ...row, state: stateOfCode(row.state) }
}
