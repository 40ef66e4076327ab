import type { Database, Statement } from 'better-sqlite3'
import { STATE_CODE } from '../../../core/run/run-state.ts'
import type { RunRecord, RunSearch, RunSearchPage } from '../../port.ts'
import {
  type IndexAnswer,
  type IndexQuery,
  searchRuns,
  MAX_SORTED_ROWS,
  type IndexSource,
} from '../../search-runs.ts'
import { RECORD_COLUMNS, type RunRow, toRunRecord, WORKER } from './run-queries.ts'
import { mono } from '../connection/system-clock.ts'

/** Filters have many shapes; beyond this many cached statements the cache is cleared. */
const MAX_PREPARED = 200

const LIVE_INDEX = {
  ready: 'run_ready',
  running: 'run_lease',
  scheduled: 'run_timer',
  blocked: 'run_blocked',
} as const

/** Runs below this id are older than the tag index and may have tags that it lacks. */
export const TAGS_INDEXED_FROM = `SELECT value FROM meta WHERE key = 'tags_indexed_from'`

type Values = Record<string, string | number>
export interface Condition {
  readonly sql: string
  readonly values: Values
}

/** Answers the queries of one page from one snapshot. */
export function prepareSearchRuns(db: Database): (input: RunSearch) => RunSearchPage {
  const prepared = new Map<string, Statement<[Values]>>()
  const prepare = (sql: string) => {
    if (prepared.size >= MAX_PREPARED) prepared.clear()
    const statement = prepared.get(sql) ?? db.prepare<[Values]>(sql)
    prepared.set(sql, statement)
    return statement
  }
  const indexedFrom = db.prepare<[], number>(TAGS_INDEXED_FROM).pluck()

  const floorOf = (projectId: number, question: IndexQuery & { ask: 'floor' }): number | null => {
    const { source, before, window } = question
    const own = source.by === 'tag' ? (indexedFrom.get() ?? 0) : 0
    if (before <= own) return before
    const values = { projectId, ...valuesOf(source), before, skip: window - 1 }
    const floor = prepare(floorSql(source)).pluck().get(values) as number | undefined
    if (source.by === 'live') return floor === undefined ? null : before
    return floor === undefined ? own || null : Math.max(floor, own)
  }

  const rowsOf = (search: RunSearch, question: IndexQuery & { ask: 'rows' }): RunRecord[] => {
    const { source, before, from, limit } = question
    const { sql, values } = conditionOf(search)
    const rows = prepare(rowsSql(source, sql)).all({
      ...values,
      ...valuesOf(source),
      before,
      from,
      limit,
    })
    return (rows as RunRow[]).map(toRunRecord)
  }

  const run = (input: RunSearch): RunSearchPage => {
    const untilMono = mono() + input.maxMs
    const search = searchRuns(input, { hasEndedByJob: true, isTimeUp: () => mono() >= untilMono })
    let answer: IndexAnswer = null
    for (;;) {
      const next = search.next(answer)
      if (next.done) return next.value
      const question = next.value
      answer =
        question.ask === 'floor' ? floorOf(input.projectId, question) : rowsOf(input, question)
    }
  }
  return db.transaction(run)
}

/** The source as the start of a WHERE clause; the column of its ids is `id`. */
function rangeOf(source: IndexSource): {
  readonly from: string
  readonly id: string
  where: string
} {
  switch (source.by) {
    case 'project':
      return {
        from: 'run INDEXED BY run_by_project',
        id: 'run.id',
        where: 'run.project_id = :projectId',
      }
    case 'job':
      return { from: 'run INDEXED BY run_by_job', id: 'run.id', where: 'run.job_id = :sourceJob' }
    case 'ended': {
      const [owner, value] =
        source.jobId === null ? ['project', ':projectId'] : ['job', ':sourceJob']
      return {
        from: `run INDEXED BY run_unlucky_by_${owner}`,
        id: 'run.id',
        where: `run.${owner}_id = ${value} AND run.status = ${STATE_CODE[source.state]}
                AND run.status >= 5`,
      }
    }
    case 'live':
      return {
        from: `run INDEXED BY ${LIVE_INDEX[source.state]}`,
        id: 'run.id',
        where: `run.status = ${STATE_CODE[source.state]}`,
      }
    case 'tag':
      return {
        from: 'run_tag',
        id: 'run_tag.run_id',
        where: `run_tag.project_id = :projectId AND run_tag.name = :sourceName
                AND run_tag.value = :sourceValue`,
      }
  }
}

function valuesOf(source: IndexSource): Values {
  switch (source.by) {
    case 'job':
      return { sourceJob: source.jobId }
    case 'ended':
      return source.jobId === null ? {} : { sourceJob: source.jobId }
    case 'tag':
      return { sourceName: source.name, sourceValue: source.value }
    default:
      return {}
  }
}

/**
 * Reads an index only. Live rows are in another order, so this only says whether there are many.
 */
export function floorSql(source: IndexSource): string {
  const { from, id, where } = rangeOf(source)
  if (source.by === 'live')
    return `SELECT 1 FROM ${from} WHERE ${where} LIMIT 1 OFFSET ${MAX_SORTED_ROWS}`
  return `SELECT ${id} FROM ${from} WHERE ${where} AND ${id} < :before
           ORDER BY ${id} DESC LIMIT 1 OFFSET :skip`
}

export function rowsSql(source: IndexSource, condition: string): string {
  const { from, id, where } = rangeOf(source)
  const join = source.by === 'tag' ? 'CROSS JOIN run ON run.id = run_tag.run_id' : ''
  return `SELECT ${RECORD_COLUMNS} FROM ${from} ${join}
           WHERE ${where} AND ${id} < :before AND ${id} >= :from AND ${condition}
           ORDER BY ${id} DESC LIMIT :limit`
}

/** The whole filter: a source only narrows what has to be examined. */
export function conditionOf(search: RunSearch): Condition {
  const values: Values = { projectId: search.projectId }
  let count = 0
  const bind = (value: string | number): string => {
    count += 1
    values[`v${count}`] = value
    return `:v${count}`
  }
  const isOneOf = (column: string, list: readonly (string | number)[]) =>
    `${column} IN (${list.map(bind).join()})`
  const isLike = (column: string, patterns: readonly string[]) =>
    `(${patterns.map((pattern) => `${column} GLOB ${bind(globOf(pattern))}`).join(' OR ')})`

  const { states, jobIds, jobNames, queues, workers, causes } = search
  const parts = ['run.project_id = :projectId']
  if (states)
    parts.push(
      isOneOf(
        'run.status',
        states.map((state) => STATE_CODE[state]),
      ),
    )
  if (jobIds) parts.push(isOneOf('run.job_id', jobIds))
  if (causes) parts.push(isOneOf('run.cause', causes))
  for (const { name, values: wanted } of search.tags) {
    parts.push(isLike(`(run.tags ->> ${bind(`$."${name}"`)})`, wanted))
  }
  if (jobNames) parts.push(isLike('(SELECT name FROM job WHERE job.id = run.job_id)', jobNames))
  if (queues) parts.push(isLike(QUEUE, queues))
  if (workers) parts.push(isLike(`(${WORKER})`, workers))
  if (search.withoutSteps) parts.push(IS_NO_STEP)
  return { sql: parts.join(' AND '), values }
}

const QUEUE = `coalesce((SELECT queue FROM lane WHERE lane.id = run.lane_id), 'default')`
const IS_NO_STEP = `NOT EXISTS (SELECT 1 FROM step WHERE step.run_id = run.id)`

/** Only `*` is special in a filter; GLOB has more wildcards. */
function globOf(pattern: string): string {
  return pattern.replaceAll(/[[?]/g, '[$&]')
}
