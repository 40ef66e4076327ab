import { STATE_CODE, type RunState } from '../../../core/run/run-state.ts'
import type { RunRecord, RunSearch, RunSearchPage } from '../../port.ts'
import {
  type IndexAnswer,
  type LiveState,
  type IndexQuery,
  searchRuns,
  MAX_SORTED_ROWS,
  type IndexSource,
} from '../../search-runs.ts'
import { bigints } from '../connection/binary-arrays.ts'
import { type Database, pickLists } from '../database/database.ts'
import { IS_LIVE } from './live-workflow.ts'
import { KEEP_INDEX_ORDER, keyRange } from './key-range.ts'
import { FIND_RUNS, type RunRow, toRunRecord, UNDER_WAY } from './run-queries.ts'
import type { Statement, Queryable } from '../connection/statement.ts'
import { mono } from '../connection/system-clock.ts'
import { transact } from '../connection/transaction.ts'

/** Runs below this id are older than the tag index and may have tags that it lacks. */
const TAGS_INDEXED_FROM = `(SELECT value::bigint FROM meta WHERE key = 'tags_indexed_from')`

const LIVE_TABLE = {
  ready: 'ready',
  running: UNDER_WAY,
  scheduled: 'timer',
  blocked: 'blocked',
} as const

/** All queries of a page are answered from one snapshot. */
export async function searchPage(db: Database, input: RunSearch): Promise<RunSearchPage> {
  const untilMono = mono() + input.maxMs
  const isTimeUp = () => mono() >= untilMono
  const answerAll = async (tx: Queryable) => {
    void tx.query(KEEP_INDEX_ORDER)
    const search = searchRuns(input, { hasEndedByJob: false, isTimeUp })
    let answer: IndexAnswer = null
    for (;;) {
      const next = search.next(answer)
      if (next.done) return next.value
      const query = next.value
      answer =
        query.ask === 'floor'
          ? await floorOf(tx, input.projectId, query)
          : await rowsOf(tx, input, query)
    }
  }
  return transact(pickLists(db), answerAll, 'snapshot')
}

async function floorOf(
  tx: Queryable,
  projectId: number,
  query: IndexQuery & { ask: 'floor' },
): Promise<number | null> {
  const { source, before } = query
  if (source.by === 'live') {
    return (await tx.query(named(manyLiveSql(source.state)))).length === 0 ? null : before
  }
  const { text, values } = floorSql(projectId, { ...query, source })
  const [row] = await tx.query<{ id: number | null; indexedFrom: number | null }>(
    named(text),
    values,
  )
  const { id, indexedFrom } = row!
  const firstIndexed = indexedFrom ?? 0
  if (before <= firstIndexed) return before
  return id === null ? firstIndexed || null : Math.max(id, firstIndexed)
}

async function rowsOf(
  tx: Queryable,
  search: RunSearch,
  query: IndexQuery & { ask: 'rows' },
): Promise<RunRecord[]> {
  const { text, values } = rowsSql(search, query)
  const found = await tx.query<{ id: number }>(named(text), values)
  if (found.length === 0) return []
  // Whole records by a statement that is planned once: planning it takes longer than running it.
  const ids = bigints(found.map((row) => row.id))
  const rows = await tx.query<RunRow>(FIND_RUNS, [ids])
  return rows.map(toRunRecord).toSorted((a, b) => b.id - a.id)
}

/** A row if the state has more runs than a page may sort. */
export function manyLiveSql(state: LiveState): string {
  return `SELECT 1 FROM ${LIVE_TABLE[state]} source LIMIT 1 OFFSET ${MAX_SORTED_ROWS}`
}

interface Sql {
  readonly text: string
  readonly values: readonly unknown[]
}

export function floorSql(
  projectId: number,
  { source, before, window }: { source: IndexSource; before: number; window: number },
): Sql {
  const { bind, values } = createValues()
  const { from, id, where, order } = rangeOf(source, { projectId, before, from: 0 }, bind)
  const indexedFrom = source.by === 'tag' ? TAGS_INDEXED_FROM : 'NULL::bigint'
  const text = `
    SELECT (SELECT ${id} FROM ${from} WHERE ${where}
             ORDER BY ${order} LIMIT 1 OFFSET ${bind(window - 1, 'int')}) AS id,
           ${indexedFrom} AS "indexedFrom"`
  return { text, values }
}

export function rowsSql(
  search: RunSearch,
  { source, before, from: oldest, limit }: Omit<IndexQuery & { ask: 'rows' }, 'ask'>,
): Sql {
  const { projectId } = search
  const { bind, values } = createValues()
  const { from, id, where, order } = rangeOf(source, { projectId, before, from: oldest }, bind)
  const spec =
    source.by === 'project' || source.by === 'job'
      ? ''
      : `CROSS JOIN LATERAL (SELECT * FROM run WHERE run.id = ${id} LIMIT 1) r`
  const text = `
    SELECT ${id} AS id FROM ${from} ${spec}
     WHERE ${where} AND ${conditionOf(search, bind)}
     ORDER BY ${order} LIMIT ${bind(limit, 'int')}`
  return { text, values }
}

/** Filter shapes that are planned once. Callers choose them, so their number is limited. */
const MAX_NAMED = 200
const names = new Map<string, string>()

function named(text: string): Statement {
  const known = names.get(text)
  if (known === undefined && names.size >= MAX_NAMED) return { name: '', text }
  const name = known ?? `search-${names.size + 1}`
  names.set(text, name)
  return { name, text }
}

type Bind = (value: unknown, type: string) => string

function createValues(): { readonly bind: Bind; readonly values: unknown[] } {
  const values: unknown[] = []
  const bind: Bind = (value, type) => `$${values.push(value)}::${type}`
  return { bind, values }
}

interface Range {
  readonly from: string
  readonly id: string
  readonly where: string
  readonly order: string
}

/** The rows of a source between two ids. */
function rangeOf(
  source: IndexSource,
  { projectId, before, from }: { projectId: number; before: number; from: number },
  bind: Bind,
): Range {
  const bounds = { before: bind(before, 'bigint'), from: bind(from, 'bigint') }
  const project = () => bind(projectId, 'int')
  const id = 'source.run_id'
  switch (source.by) {
    case 'project':
      return runsBy('r.project_id', project(), bounds)
    case 'job':
      return runsBy('r.job_id', bind(source.jobId, 'int'), bounds)
    case 'ended': {
      const state = `${STATE_CODE[source.state]}`
      const key = ['source.project_id', 'source.state', id]
      const { where, order } = keyRange(key, [project(), state], bounds)
      return { from: 'run_end source', id, where: `source.state = ${state} AND ${where}`, order }
    }
    case 'tag': {
      const key = ['source.project_id', 'source.name', 'source.value', id]
      const values = [project(), bind(source.name, 'text'), bind(source.value, 'text')]
      return { from: 'run_tag source', id, ...keyRange(key, values, bounds) }
    }
    case 'live':
      return {
        from: `${LIVE_TABLE[source.state]} source`,
        id,
        where: `${id} < ${bounds.before} AND ${id} >= ${bounds.from}`,
        order: `${id} DESC`,
      }
  }
}

function runsBy(owner: string, value: string, bounds: { before: string; from: string }): Range {
  return { from: 'run r', id: 'r.id', ...keyRange([owner, 'r.id'], [value], bounds) }
}

/**
 * Scalar subqueries force one lookup for each row, so that no plan reads a whole table instead.
 */
const END = (column: string) => `(SELECT ${column} FROM run_end WHERE run_id = r.id LIMIT 1)`
const IS_IN = (table: string) => `(SELECT 1 FROM ${table} WHERE run_id = r.id LIMIT 1) IS NOT NULL`
const HOLDER = `(SELECT session.name FROM lease JOIN session ON session.id = lease.session
                  WHERE lease.run_id = r.id LIMIT 1)`
const QUEUE = `coalesce((SELECT queue FROM lane WHERE lane.id = r.lane_id), 'default')`
const JOB = '(SELECT name FROM job WHERE job.id = r.job_id)'

/** The whole filter: a source only narrows what has to be examined. */
function conditionOf(search: RunSearch, bind: Bind): string {
  const { states, jobIds, jobNames, queues, workers, causes } = search
  const isLike = (text: string, patterns: readonly string[]) =>
    `${text} LIKE ANY (${bind(patterns.map(likeOf), 'text[]')})`
  // The sums keep the planner on the index of the source.
  const parts = [`r.project_id + 0 = ${bind(search.projectId, 'int')}`]
  if (jobIds) parts.push(`r.job_id + 0 = ANY (${bind(jobIds, 'int[]')})`)
  for (const { name, values } of search.tags) {
    parts.push(isLike(`(r.tags::json ->> ${bind(name, 'text')})`, values))
  }
  if (jobNames) parts.push(isLike(JOB, jobNames))
  if (queues) parts.push(isLike(QUEUE, queues))
  if (states) parts.push(`(${isInState(states).join(' OR ')})`)
  if (causes) parts.push(`${END('cause')} = ANY (${bind(causes, 'text[]')})`)
  if (workers) parts.push(isLike(`coalesce(${END('worker')}, ${HOLDER})`, workers))
  if (search.withoutSteps) {
    parts.push('(SELECT 1 FROM step WHERE step.run_id = r.id LIMIT 1) IS NULL')
  }
  return parts.join(' AND ')
}

function isInState(states: readonly RunState[]): string[] {
  const ended = states.map((state) => STATE_CODE[state]).filter((code) => code >= 4)
  const live = states.flatMap((state) => {
    switch (state) {
      case 'ready':
        return [IS_IN('ready')]
      case 'scheduled':
        return [IS_IN('timer')]
      case 'blocked':
        return [IS_IN('blocked')]
      case 'running':
        return [
          IS_IN('lease'),
          `(SELECT 1 FROM flow WHERE run_id = r.id AND ${IS_LIVE} LIMIT 1) IS NOT NULL`,
        ]
      default:
        return []
    }
  })
  return ended.length === 0 ? live : [...live, `${END('state')} IN (${ended.join()})`]
}

/** Only `*` is special in a filter; LIKE has other special characters. */
function likeOf(pattern: string): string {
  return pattern.replaceAll(/[\\%_]/g, '\\$&').replaceAll('*', '%')
}
