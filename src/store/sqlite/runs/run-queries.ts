import type { Database } from 'better-sqlite3'
import { isFinal, STATE_CODE, type RunState } from '../../../core/run/run-state.ts'
import type { RunFilter } from '../../port.ts'
import { RECORD_COLUMNS, type RecordRow } from '../record-row.ts'

/** Up to this many live rows are sorted on the spot; of more, the newest are near the end anyway. */
const SORTED_AT_MOST = 10_000
const LIVE_INDEX = {
  ready: 'run_ready',
  running: 'run_lease',
  scheduled: 'run_timer',
  blocked: 'run_blocked',
} as const satisfies Partial<Record<RunState, string>>

const IS_NO_STEP = `AND NOT EXISTS (SELECT 1 FROM step WHERE step.run_id = run.id)`

type Page = (filter: RunFilter) => RecordRow[]
type Owner = 'project' | 'job'
export interface Asked {
  readonly owner: Owner
  readonly state: RunState | null
  readonly withoutSteps: boolean
}

/** One statement per way of asking: a page reads the rows it shows, not those it leaves out. */
export function prepareListRuns(db: Database): Page {
  const pages = new Map<string, Page>()
  return (filter) => {
    const owner: Owner = filter.jobId === null ? 'project' : 'job'
    const asked: Asked = { owner, state: filter.state, withoutSteps: filter.withoutSteps ?? false }
    const way = Object.values(asked).join(':')
    const page = pages.get(way) ?? preparePage(db, asked)
    pages.set(way, page)
    return page(filter)
  }
}

function preparePage(db: Database, asked: Asked): Page {
  const { state } = asked
  const newest = prepare(db, pageSql(asked))
  if (state === null || isFinal(state)) return newest
  const live = prepare(db, livePageSql({ ...asked, state }))
  const isMany = db.prepare<[], number>(
    `SELECT 1 FROM run INDEXED BY ${LIVE_INDEX[state]} WHERE status = ${STATE_CODE[state]}
      LIMIT 1 OFFSET ${SORTED_AT_MOST}`,
  )
  return (filter) => (isMany.get() === undefined ? live(filter) : newest(filter))
}

function prepare(db: Database, sql: string): Page {
  const statement = db.prepare<[Record<string, number | null>], RecordRow>(sql)
  return ({ projectId, jobId, before, limit }) => statement.all({ projectId, jobId, before, limit })
}

/** Backwards through the runs of a project or job; failures and the like have an index of their own. */
export function pageSql({ owner, state, withoutSteps }: Asked): string {
  const rare = state !== null && STATE_CODE[state] > STATE_CODE.succeeded
  const index = rare ? `run_unlucky_by_${owner}` : `run_by_${owner}`
  const status = state === null ? '' : `AND status = ${STATE_CODE[state]}`
  return `
    SELECT ${RECORD_COLUMNS} FROM run INDEXED BY ${index}
     WHERE ${ownedBy(owner)} ${status} ${rare ? 'AND status >= 5' : ''} AND id < :before
       ${withoutSteps ? IS_NO_STEP : ''}
     ORDER BY id DESC LIMIT :limit`
}

/** All rows in a live state, sorted: right for few, whatever the size of the history. */
export function livePageSql({
  owner,
  state,
  withoutSteps,
}: Asked & { state: keyof typeof LIVE_INDEX }): string {
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
