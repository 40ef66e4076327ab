import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idAtMs } from '../../core/ids.ts'
import { type RunState, STATES } from '../../core/run/run-state.ts'
import { DAY_MS, START_MS } from '../contract/fixture.ts'
import { onFreshStores } from '../contract/world.ts'
import type { RunSearch } from '../port.ts'
import type { IndexSource } from '../search-runs.ts'
import { Connection } from './connection/connection.ts'
import { KEEP_INDEX_ORDER } from './runs/key-range.ts'
import { connectAdmin, openIn } from './postgres.fixture.ts'
import { listStatement } from './runs/run-queries.ts'
import { floorSql, manyLiveSql, rowsSql } from './runs/search-runs.ts'
import type { Queryable } from './connection/statement.ts'
import { transact } from './connection/transaction.ts'

/** Of a hundred runs the first project has ninety, the second nine, the third one. */
const RUNS = 6_000
const SMALL = { project: 3, job: 30, runs: RUNS / 100 }
const BEFORE = idAtMs(START_MS + 21 * DAY_MS)

const ALL_RUNS: RunSearch = {
  projectId: SMALL.project,
  states: null,
  jobIds: null,
  jobNames: null,
  queues: null,
  workers: null,
  causes: null,
  withoutSteps: false,
  tags: [],
  from: 0,
  before: BEFORE,
  limit: 10,
  examine: 1_000,
  maxMs: 1_000,
}
const SEARCHES: readonly RunSearch[] = [
  ALL_RUNS,
  { ...ALL_RUNS, jobIds: [SMALL.job] },
  { ...ALL_RUNS, withoutSteps: true, tags: [{ name: 'b', values: ['nope'] }] },
  { ...ALL_RUNS, states: ['succeeded', 'failed'] },
  {
    ...ALL_RUNS,
    states: ['ready', 'running', 'scheduled', 'blocked', 'skipped'],
    jobIds: [SMALL.job],
    jobNames: ['a*'],
    queues: ['q'],
    workers: ['w*'],
    causes: ['exit'],
    withoutSteps: true,
    tags: [{ name: 'a', values: ['x'] }],
  },
]
const SOURCES: readonly [source: Exclude<IndexSource, { by: 'live' }>, index: RegExp][] = [
  [{ by: 'project' }, /^run_\w+_project_id_id_idx$/],
  [{ by: 'job', jobId: SMALL.job }, /^run_\w+_job_id_id_idx$/],
  [{ by: 'ended', state: 'failed', jobId: null }, /^run_end_\w+_project_id_state_run_id_idx$/],
  [{ by: 'tag', name: 'a', value: 'x' }, /^run_tag_\w+_pkey$/],
]

interface Question {
  readonly what: string
  readonly text: string
  readonly values: readonly unknown[]
  /** The only index that may be read in order over history; null: the list reads a live table. */
  readonly index: RegExp | null
}

function questions(): Question[] {
  const found: Question[] = []
  const ask = (what: string, sql: Pick<Question, 'text' | 'values'>, index: RegExp | null) =>
    found.push({ what, ...sql, index })
  for (const [source, index] of SOURCES) {
    const range = { source, before: BEFORE, window: 1_250, from: 0, limit: 11 }
    ask(`floor by ${source.by}`, floorSql(SMALL.project, range), index)
    for (const [nth, search] of SEARCHES.entries()) {
      ask(`rows by ${source.by}, filter ${nth}`, rowsSql(search, range), index)
    }
  }
  for (const state of ['ready', 'running', 'scheduled', 'blocked'] as const) {
    const source = { by: 'live', state } as const
    ask(`many ${state}`, { text: manyLiveSql(state), values: [] }, null)
    const range = { source, before: BEFORE, from: 0, limit: 11 }
    ask(`rows by ${state}`, rowsSql(ALL_RUNS, range), null)
  }
  for (const state of [...STATES, 'any'] as const) {
    for (const ofJob of [true, false]) {
      const { text, name } = listStatement(state, { ofJob, withoutSteps: true })
      const values = [SMALL.project, BEFORE, 10, ...(ofJob ? [SMALL.job] : [])]
      ask(name, { text, values }, indexOf(state, ofJob))
    }
  }
  return found
}

function indexOf(state: RunState | 'any', ofJob: boolean): RegExp | null {
  if (['ready', 'running', 'scheduled', 'blocked'].includes(state)) return null
  if (state !== 'any' && state !== 'succeeded') return SOURCES[2]![1]
  return ofJob ? SOURCES[1]![1] : SOURCES[0]![1]
}

interface Node {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly 'Scan Direction'?: string
  readonly 'Actual Rows'?: number
  readonly 'Actual Loops'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly Node[]
}

/** The nodes of the plan that a list connection caches, made now. */
async function planOf(
  connection: Connection,
  { text, values }: Pick<Question, 'text' | 'values'>,
  isRun = false,
): Promise<Node[]> {
  const given = values.length === 0 ? '' : `(${values.map(literal).join()})`
  const options = `FORMAT json${isRun ? ', ANALYZE, TIMING off' : ''}`
  const explain = async (tx: Queryable) => {
    const run = <Row>(sql: string) => tx.query<Row>({ name: '', text: sql })
    void tx.query(KEEP_INDEX_ORDER)
    void run(`PREPARE question AS ${text}`)
    const answer = run<{ 'QUERY PLAN': Explained | string }>(
      `EXPLAIN (${options}) EXECUTE question${given}`,
    )
    await run('DEALLOCATE question')
    return answer
  }
  const [row] = await transact(connection, explain, 'snapshot')
  const plan = row!['QUERY PLAN']
  const [{ Plan }] = typeof plan === 'string' ? (JSON.parse(plan) as Explained) : plan
  return nodesOf(Plan)
}

type Explained = [{ readonly Plan: Node }]

function literal(value: unknown): string {
  if (Array.isArray(value)) return `ARRAY[${value.map(literal).join()}]`
  return typeof value === 'string' ? `'${value}'` : String(value)
}

function nodesOf(node: Node, isEnd: (node: Node) => boolean = () => false): Node[] {
  return isEnd(node) ? [] : [node, ...(node.Plans ?? []).flatMap((one) => nodesOf(one, isEnd))]
}

function isLimit(node: Node): boolean {
  return node['Node Type'] === 'Limit'
}

function assertFits({ what, index }: Question, nodes: readonly Node[], when: string): void {
  const about = `${what}, ${when}: ${JSON.stringify(nodes.map((node) => [node['Node Type'], node['Index Name'], node['Index Cond']]))}`
  for (const node of nodes) {
    assert.ok(!/Seq|Bitmap|Incremental/.test(node['Node Type']), about)
    if (node['Relation Name'] === 'flow' && node['Index Name'] !== 'flow_live') {
      assert.match(node['Index Cond'] ?? '', /run_id = /, about)
    }
    // Up to a page of whole records may be sorted, or live rows; history never is.
    const sorted = node['Node Type'] === 'Sort' ? nodesOf(node, isLimit) : []
    assert.ok(!index || !sorted.some(isWalk), about)
  }
  const walks = nodes.filter(isWalk)
  if (index) assert.ok(walks.length > 0, about)
  for (const walk of index ? walks : []) {
    assert.match(walk['Index Name'] ?? '', index!, about)
    assert.match(walk['Index Cond'] ?? '', /ROW\(.*\) < ROW\(.*ROW\(.*\) >= ROW\(/, about)
  }
}

/** A lookup finds single rows; a walk scans along an index, backwards to read the newest first. */
function isWalk(node: Node): boolean {
  return node['Scan Direction'] === 'Backward'
}

function rowsRead(nodes: readonly Node[]): number {
  return nodes
    .filter(isWalk)
    .map((node) => (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0))
    .reduce((sum, rows) => sum + rows, 0)
}

const SPACING = Math.floor((idAtMs(START_MS + 20 * DAY_MS) - idAtMs(START_MS)) / RUNS)
/** Three weeks of runs; every second one failed and every second one has a tag. */
const FILL = [
  `INSERT INTO run (id, created_at, project_id, job_id, lane_id, minted_by, rank, tags)
   SELECT ${idAtMs(START_MS)} + i::bigint * ${SPACING}, 1, project, project * 10, 1, 1, 0,
          CASE WHEN i % 2 = 0 THEN '{"a":"x"}' END
     FROM (SELECT i, CASE WHEN i % 100 = 0 THEN 3 WHEN i % 10 = 0 THEN 2 ELSE 1 END AS project
             FROM generate_series(1, ${RUNS}) i) one`,
  `INSERT INTO run_end (run_id, finished_at, project_id, attempt, lost, state, worker)
   SELECT id, 1, project_id, 1, 0, CASE WHEN tags IS NULL THEN 4 ELSE 5 END, 'w' FROM run`,
  `INSERT INTO run_tag SELECT project_id, 'a', 'x', id FROM run WHERE tags IS NOT NULL`,
]

/** Statistics of a long history, for the planner. */
const GROW = `
  UPDATE pg_class SET reltuples = 1000000
   WHERE relnamespace = current_schema()::regnamespace AND relname ~ '^run(_end|_tag)?_w'`

test('a list reads its own range of one index, whatever the tables held when it was planned', async (t) => {
  let where = { url: '', schema: '' }
  await onFreshStores(openIn({ place: (place) => (where = place) }))(async ({ store }) => {
    await store.maintain({ mayDelete: false })
    const ignore = () => {}
    const role = 'lists'
    const connection = await Connection.open({
      ...where,
      role,
      onWarn: ignore,
      onConnectionSetUp: ignore,
    })
    const admin = await connectAdmin(where.url)
    await admin.query(`SET search_path TO ${where.schema}`)
    const vacuum = () =>
      admin.query('VACUUM ANALYZE run, run_end, run_tag, step, flow, lease, ready')
    const assertAllFit = async (when: string, isRun = false) => {
      for (const question of questions()) {
        const nodes = await planOf(connection, question, isRun)
        assertFits(question, nodes, when)
        if (!isRun || !question.index) continue
        const count = rowsRead(nodes)
        assert.ok(count <= SMALL.runs, `${question.what}, ${when}: read ${count} rows`)
      }
    }
    try {
      await assertAllFit('never analysed')
      await vacuum()
      await assertAllFit('vacuumed while empty')
      for (const sql of FILL) await admin.query(sql)
      await assertAllFit('filled since', true)
      await vacuum()
      await assertAllFit('vacuumed while full', true)
      await admin.query(GROW)
      await assertAllFit('with very many runs')
    } finally {
      await admin.end()
      await connection.close()
    }
  })(t)
})
