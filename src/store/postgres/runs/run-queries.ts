import { STATE_CODE, stateOfCode, type RunState } from '../../../core/run/run-state.ts'
import type { AttemptRecord, RunFilter, RunQueries, RunRecord } from '../../port.ts'
import { bigints } from '../connection/binary-arrays.ts'
import type { Database } from '../database/database.ts'
import { IS_LIVE } from '../workflows/workflow-queries.ts'
import type { Statement } from '../connection/statement.ts'
import { read } from '../connection/transaction.ts'

/** A run and whichever of the six tables says where it is, all as of one moment. */
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
const WHEREABOUTS = `
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
    FROM run r ${WHEREABOUTS}
   WHERE r.id = $2::bigint AND r.project_id = $1::int`,
}
const FIND_RUNS = {
  name: 'find-runs',
  text: `${RECORD}
    FROM unnest($1::bigint[]) AS wanted (id)
   CROSS JOIN LATERAL (SELECT * FROM run WHERE run.id = wanted.id LIMIT 1) r ${WHEREABOUTS}`,
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

const IN_HISTORY = `FROM run WHERE run.project_id = $1::int AND run.id < $2::bigint`
const SPEC_OF = (id: string) =>
  `CROSS JOIN LATERAL (SELECT id, project_id, job_id FROM run WHERE run.id = ${id} LIMIT 1) run`
const inHotTable = (table: string) =>
  `FROM ${table} hot ${SPEC_OF('hot.run_id')}
    WHERE run.project_id = $1::int AND hot.run_id < $2::bigint`
const UNDER_WAY = `(
      SELECT run_id FROM lease UNION ALL SELECT run_id FROM flow WHERE ended_at IS NULL)`
/** These ends are few, and have an index of their own. */
const amongEnds = (state: 'failed' | 'cancelled' | 'skipped') =>
  `FROM run_end ended ${SPEC_OF('ended.run_id')}
    WHERE ended.project_id = $1::int AND ended.state = ${STATE_CODE[state]}
      AND ended.run_id < $2::bigint`

/** Where to look for runs in a state, and the column that orders them there. */
const PAGES: Readonly<Record<RunState | 'any', readonly [id: string, from: string]>> = {
  any: ['run.id', IN_HISTORY],
  ready: ['hot.run_id', inHotTable('ready')],
  scheduled: ['hot.run_id', inHotTable('timer')],
  running: ['hot.run_id', inHotTable(UNDER_WAY)],
  blocked: ['hot.run_id', inHotTable('blocked')],
  // Most runs succeed: walking back through history finds a page of them soon.
  succeeded: [
    'run.id',
    `${IN_HISTORY} AND (
       SELECT state FROM run_end WHERE run_id = run.id) = ${STATE_CODE.succeeded}`,
  ],
  failed: ['ended.run_id', amongEnds('failed')],
  cancelled: ['ended.run_id', amongEnds('cancelled')],
  skipped: ['ended.run_id', amongEnds('skipped')],
}

/** A question for each row, so that no plan reads all steps there are. */
const isNoStep = (id: string) =>
  `AND (SELECT 1 FROM step WHERE step.run_id = ${id} LIMIT 1) IS NULL`

function listStatement(
  state: RunState | 'any',
  { ofJob, withoutSteps }: { ofJob: boolean; withoutSteps: boolean },
): Statement {
  const [id, from] = PAGES[state]
  return {
    name: `list-${state}${ofJob ? '-of-job' : ''}${withoutSteps ? '-no-steps' : ''}`,
    text: `${RECORD}
      FROM (SELECT ${id} AS id ${from} ${ofJob ? 'AND run.job_id = $4::int' : ''}
               ${withoutSteps ? isNoStep(id) : ''}
             ORDER BY ${id} DESC LIMIT $3::int) page
     CROSS JOIN LATERAL (SELECT * FROM run WHERE run.id = page.id LIMIT 1) r
      ${WHEREABOUTS}
     ORDER BY r.id DESC`,
  }
}

type RecordRow = Omit<RunRecord, 'state'> & { readonly state: number }

export async function findRun(
  db: Database,
  { projectId, runId }: { projectId: number; runId: number },
): Promise<RunRecord | null> {
  const [row] = await read<RecordRow>(db.reading, FIND_RUN, [projectId, runId])
  return row ? toRecord(row) : null
}

export async function findRuns(
  db: Database,
  { runIds }: { runIds: readonly number[] },
): Promise<RunRecord[]> {
  return (await read<RecordRow>(db.reading, FIND_RUNS, [bigints(runIds)])).map(toRecord)
}

export async function attemptsOf(
  db: Database,
  { runId }: { runId: number },
): Promise<AttemptRecord[]> {
  return read<AttemptRecord>(db.reading, ATTEMPTS_OF, [runId])
}

export async function listRuns(
  db: Database,
  { projectId, state, jobId, withoutSteps = false, before, limit }: RunFilter,
): Promise<RunRecord[]> {
  const statement = listStatement(state ?? 'any', { ofJob: jobId !== null, withoutSteps })
  const values = [projectId, before, limit, ...(jobId === null ? [] : [jobId])]
  return (await read<RecordRow>(db.reading, statement, values)).map(toRecord)
}

export async function liveCounts(db: Database): ReturnType<RunQueries['liveCounts']> {
  type Counts = Awaited<ReturnType<RunQueries['liveCounts']>>
  const [counts] = await read<Counts>(db.reading, LIVE_COUNTS)
  return counts!
}

function toRecord(row: RecordRow): RunRecord {
  return { ...row, state: stateOfCode(row.state) }
}
