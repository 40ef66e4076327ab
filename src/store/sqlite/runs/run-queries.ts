import type { Database } from 'better-sqlite3'
import {
  type Cause,
  isFinal,
  type RunState,
  STATE_CODE,
  stateOfCode,
} from '../../../core/run/run-state.ts'
import type { AttemptRecord, RunListFilter, RunQueries, RunRecord } from '../../port.ts'
import type { Sync } from '../connection/sync.ts'
import { parseGateIds } from '../tick-state/tick-state.ts'

/** While a run is under way, its worker is found through the session that holds it. */
export const WORKER = `
  CASE WHEN status = 1 THEN (SELECT name FROM session WHERE session.id = run.session)
       ELSE worker END`
export const RECORD_COLUMNS = `
  id, run.project_id AS projectId, job_id AS jobId, lane_id AS laneId, rank, status, cancelling,
  attempt, fence, lost, cause, message, ${WORKER} AS worker, created_at AS createdAt, due_at AS dueAt,
  started_at AS startedAt, finished_at AS finishedAt, timeout_ms AS timeoutMs, policy,
  version, created_by AS createdBy, work, input, result, process, tags, gates, retry_of AS retryOf`

export interface RunRow extends Omit<RunRecord, 'state' | 'cancelling' | 'cause' | 'gates'> {
  readonly status: number
  readonly cancelling: number
  readonly cause: string | null
  readonly gates: string | null
}

export function toRunRecord({ status, ...row }: RunRow): RunRecord {
  return {
    ...row,
    state: stateOfCode(status),
    cancelling: row.cancelling === 1 && status === STATE_CODE.running,
    cause: row.cause as Cause | null,
    gates: parseGateIds(row.gates),
  }
}

export const FIND_RUN = `SELECT ${RECORD_COLUMNS} FROM run WHERE id = ? AND project_id = ?`
const FIND_RUN_ANYWHERE = `SELECT ${RECORD_COLUMNS} FROM run WHERE id = ?`
export const ATTEMPTS_OF = `
  SELECT attempt, fence, cause, message, worker, process,
         started_at AS startedAt, finished_at AS finishedAt
    FROM attempt WHERE run_id = ? ORDER BY fence`
/** Each count scans the index of its state, never the history. */
export const LIVE_COUNTS = `
  SELECT (SELECT count(*) FROM run WHERE status = 0) AS ready,
         (SELECT count(*) FROM run WHERE status = 1) AS running,
         (SELECT count(*) FROM run WHERE status = 2) AS scheduled,
         (SELECT count(*) FROM run WHERE status = 3) AS blocked`

type Queries = Sync<
  Pick<RunQueries, 'findRun' | 'findRuns' | 'attemptsOf' | 'listRuns' | 'liveCounts'>
>

export function prepareRunQueries(db: Database): Queries {
  const findRun = db.prepare<[number, number], RunRow>(FIND_RUN)
  const findAnywhere = db.prepare<[number], RunRow>(FIND_RUN_ANYWHERE)
  const liveCounts = db.prepare<[], ReturnType<Queries['liveCounts']>>(LIVE_COUNTS)
  const listRuns = prepareListRuns(db)
  const attemptsOf = db.prepare<[number], AttemptRecord>(ATTEMPTS_OF)
  return {
    findRun({ projectId, runId }) {
      const row = findRun.get(runId, projectId)
      return row ? toRunRecord(row) : null
    },
    findRuns: ({ runIds }) =>
      runIds.flatMap((runId) => {
        const row = findAnywhere.get(runId)
        return row ? [toRunRecord(row)] : []
      }),
    attemptsOf: ({ runId }) => attemptsOf.all(runId),
    listRuns: (filter) => listRuns(filter).map(toRunRecord),
    liveCounts: () => liveCounts.get() ?? { ready: 0, running: 0, scheduled: 0, blocked: 0 },
  }
}

/**
 * Up to this many live rows are sorted; if there are more, the newest are near the end of history
 * anyway.
 */
const MAX_SORTED = 10_000
const LIVE_INDEX = {
  ready: 'run_ready',
  running: 'run_lease',
  scheduled: 'run_timer',
  blocked: 'run_blocked',
} as const satisfies Partial<Record<RunState, string>>

const IS_NO_STEP = `AND NOT EXISTS (SELECT 1 FROM step WHERE step.run_id = run.id)`

type Page = (filter: RunListFilter) => RunRow[]
type Owner = 'project' | 'job'
export interface PageFilter {
  readonly owner: Owner
  readonly state: RunState | null
  readonly withoutSteps: boolean
}

/** One statement per kind of filter: a page reads only the rows it shows. */
function prepareListRuns(db: Database): Page {
  const pages = new Map<string, Page>()
  return (filter) => {
    const owner: Owner = filter.jobId === null ? 'project' : 'job'
    const pageFilter: PageFilter = {
      owner,
      state: filter.state,
      withoutSteps: filter.withoutSteps ?? false,
    }
    const way = Object.values(pageFilter).join(':')
    const page = pages.get(way) ?? preparePage(db, pageFilter)
    pages.set(way, page)
    return page(filter)
  }
}

function preparePage(db: Database, pageFilter: PageFilter): Page {
  const { state } = pageFilter
  const newest = prepare(db, pageSql(pageFilter))
  if (state === null || isFinal(state)) return newest
  const live = prepare(db, livePageSql({ ...pageFilter, state }))
  const isMany = db.prepare<[], number>(
    `SELECT 1 FROM run INDEXED BY ${LIVE_INDEX[state]} WHERE status = ${STATE_CODE[state]}
      LIMIT 1 OFFSET ${MAX_SORTED}`,
  )
  return (filter) => (isMany.get() === undefined ? live(filter) : newest(filter))
}

function prepare(db: Database, sql: string): Page {
  const statement = db.prepare<[Record<string, number | null>], RunRow>(sql)
  return ({ projectId, jobId, before, limit }) => statement.all({ projectId, jobId, before, limit })
}

/**
 * Backwards through the runs of a project or job; failed, cancelled and skipped runs have their own
 * index.
 */
export function pageSql({ owner, state, withoutSteps }: PageFilter): string {
  const rare = state !== null && STATE_CODE[state] > STATE_CODE.succeeded
  const index = rare ? `run_unlucky_by_${owner}` : `run_by_${owner}`
  const status = state === null ? '' : `AND status = ${STATE_CODE[state]}`
  return `
    SELECT ${RECORD_COLUMNS} FROM run INDEXED BY ${index}
     WHERE ${ownedBy(owner)} ${status} ${rare ? 'AND status >= 5' : ''} AND id < :before
       ${withoutSteps ? IS_NO_STEP : ''}
     ORDER BY id DESC LIMIT :limit`
}

/** All rows in a live state, sorted: right for few rows, whatever the size of the history. */
export function livePageSql({
  owner,
  state,
  withoutSteps,
}: PageFilter & { state: keyof typeof LIVE_INDEX }): string {
  return `
    SELECT ${RECORD_COLUMNS} FROM run INDEXED BY ${LIVE_INDEX[state]}
     WHERE status = ${STATE_CODE[state]} AND ${ownedBy(owner)} AND id < :before
       ${withoutSteps ? IS_NO_STEP : ''}
     ORDER BY id DESC LIMIT :limit`
}

function ownedBy(owner: Owner): string {
  return owner === 'project'
    ? 'project_id = :projectId'
    : 'job_id = :jobId AND project_id = :projectId'
}
