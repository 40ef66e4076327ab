import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idAtMs } from '../../../core/ids.ts'
import { matchesAny } from '../../../core/run/run-filter.ts'
import { STATES } from '../../../core/run/run-state.ts'
import type { RunRecord, RunSearch } from '../../port.ts'
import { createSeededRandom, DAY_MS, HOUR_MS, ids, only } from '../fixture.ts'
import { onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

const ANY: Omit<RunSearch, 'projectId'> = {
  states: null,
  jobIds: null,
  jobNames: null,
  queues: null,
  workers: null,
  causes: null,
  tags: [],
  withoutSteps: false,
  from: 0,
  before: Number.MAX_SAFE_INTEGER,
  limit: 10,
  examine: 20_000,
  maxMs: 60_000,
}

/** Runs of two jobs in every state, some with tags, workers and causes. */
async function fill(world: StoreWorld): Promise<void> {
  const other = only(
    await world.store.internJobs([{ projectId: world.project, name: 'other-job' }]),
  )
  const gates = [await world.gate('search-door', 0)]
  const dueAt = world.clock.now() + HOUR_MS
  const random = createSeededRandom(7)
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T
  const ends = ['succeeded', 'failed', 'cancelled', 'skipped', 'running'] as const
  for (let round = 0; round < 24; round += 1) {
    const jobId = pick([world.job, other])
    const tags = pick([
      null,
      '{"team":"a"}',
      '{"team":"b","env":"x_y"}',
      '{"team":"a","env":"x%y"}',
    ])
    const to = pick(ends)
    const lease = await world.start({ jobId, tags })
    if (to !== 'running') {
      const cause = to === 'succeeded' ? null : pick(['exit', 'timeout'] as const)
      await world.end(lease, { to, cause, worker: pick(['w-1', 'w-2', 'big?one']) })
    }
    if (round % 6 === 0) await world.submit(world.newRun({ jobId, tags, dueAt }))
    if (round % 6 === 3) await world.submit(world.newRun({ jobId, tags, gates }))
    world.clock.advance(10)
  }
  await world.submit(...world.newRuns(3, { jobId: other, tags: '{"team":"c"}' }))
  const theirs = { projectId: world.otherProject, tags: '{"team":"a"}' }
  await world.submit(...world.newRuns(2, theirs))
}

/** Follows a search to its end. Every page respects its limit and advances. */
async function walk(
  { store, project }: StoreWorld,
  search: Partial<RunSearch>,
): Promise<{ found: RunRecord[]; sizes: number[] }> {
  const found: RunRecord[] = []
  const sizes: number[] = []
  for (let before: number | null = Number.MAX_SAFE_INTEGER; before !== null;) {
    const asked = { ...ANY, ...search, projectId: project, before }
    const page = await store.searchRuns(asked)
    assert.ok(page.runs.length <= asked.limit)
    assert.ok(page.before === null || page.before < before, 'a page advances')
    found.push(...page.runs)
    sizes.push(page.runs.length)
    before = page.before
  }
  return { found, sizes }
}

function matchesTag(run: RunRecord, name: string, values: readonly string[]): boolean {
  const own = run.tags === null ? {} : (JSON.parse(run.tags) as Record<string, string>)
  return own[name] !== undefined && matchesAny(own[name], values)
}

type Filter = readonly [what: string, search: Partial<RunSearch>, fits: (run: RunRecord) => boolean]
const FILTERS: readonly Filter[] = [
  ['all', {}, () => true],
  ...STATES.map((state): Filter => [state, { states: [state] }, (run) => run.state === state]),
  [
    'several states',
    { states: ['failed', 'running', 'blocked'] },
    (run) => ['failed', 'running', 'blocked'].includes(run.state),
  ],
  [
    'success and failure',
    { states: ['succeeded', 'failed'] },
    (run) => ['succeeded', 'failed'].includes(run.state),
  ],
  ['a tag', { tags: [{ name: 'team', values: ['a'] }] }, (run) => matchesTag(run, 'team', ['a'])],
  [
    'values of a tag',
    { tags: [{ name: 'team', values: ['b', 'c'] }] },
    (run) => matchesTag(run, 'team', ['b', 'c']),
  ],
  [
    'two tags',
    {
      tags: [
        { name: 'team', values: ['b'] },
        { name: 'env', values: ['x*'] },
      ],
    },
    (run) => matchesTag(run, 'team', ['b']) && matchesTag(run, 'env', ['x*']),
  ],
  [
    'a tag with characters that are special in SQL',
    { tags: [{ name: 'env', values: ['x_*', '*%'] }] },
    (run) => matchesTag(run, 'env', ['x_*', '*%']),
  ],
  [
    'a tag and a state',
    { tags: [{ name: 'team', values: ['a'] }], states: ['failed', 'cancelled'] },
    (run) => matchesTag(run, 'team', ['a']) && ['failed', 'cancelled'].includes(run.state),
  ],
  ['a tag that no run has', { tags: [{ name: 'b', values: ['nope'] }] }, () => false],
  ['workers', { workers: ['w-*'] }, (run) => matchesAny(run.worker ?? '', ['w-*'])],
  ['a worker', { workers: ['big?one'] }, (run) => run.worker === 'big?one'],
  ['a worker that does not exist', { workers: ['big?on'] }, () => false],
  ['a cause', { causes: ['timeout'] }, (run) => run.cause === 'timeout'],
  ['a queue without runs', { queues: ['no-such-*'] }, () => false],
  ['job names', { jobNames: ['other-*'] }, (run) => run.tags === '{"team":"c"}' || isOther(run)],
]

let otherJob = -1
function isOther({ jobId }: RunRecord): boolean {
  return jobId === otherJob
}

export function searchContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  test(
    'walking through the pages of a search finds each matching run once, however few rows a page examines',
    inWorld(async (world) => {
      await fill(world)
      otherJob = (await world.store.findJob({ projectId: world.project, name: 'other-job' })) ?? -1
      const all = (await world.list()).filter(({ projectId }) => projectId === world.project)
      for (const [what, search, fits] of FILTERS) {
        for (const jobIds of [null, [otherJob], [world.job, otherJob]]) {
          const wanted = all.filter((run) => fits(run) && (jobIds?.includes(run.jobId) ?? true))
          for (const [limit, examine] of [
            [1, 3],
            [4, 20_000],
            [500, 7],
          ] as const) {
            const { found } = await walk(world, { ...search, jobIds, limit, examine })
            const shown = `${what} of ${String(jobIds)} by ${limit}/${examine}`
            assert.deepEqual(ids(found), ids(wanted), shown)
            assert.deepEqual(found, wanted, shown)
          }
        }
      }
    }),
  )

  test(
    'a filter that matches nothing is answered with empty pages that continue, and ends',
    inWorld(async (world) => {
      await world.submit(...world.newRuns(40))
      const noMatch = { workers: ['nobody'], limit: 10 }
      const { found, sizes } = await walk(world, { ...noMatch, examine: 10 })
      assert.equal(found.length, 0)
      assert.ok(sizes.length >= 4 && sizes.length <= 6, `${sizes.length} pages`)
      assert.equal((await walk(world, { ...noMatch, examine: 1_000 })).sizes.length, 1)
    }),
  )

  test(
    'an exact tag is found by an index: one page, whatever the size of the history',
    inWorld(async (world) => {
      const [first, ...rest] = world.newRuns(60)
      await world.submit({ ...first!, tags: '{"team":"rare"}' }, ...rest)
      const tags = [{ name: 'team', values: ['rare'] }]
      const { found, sizes } = await walk(world, { tags, examine: 5 })
      assert.deepEqual([ids(found), sizes], [[first!.id], [1]])
      const never = [{ name: 'team', values: ['never'] }]
      assert.deepEqual((await walk(world, { tags: never, examine: 5 })).sizes, [0])
    }),
  )

  test(
    'a search takes the index that skips most: a rare tag, a rare state',
    inWorld(async (world) => {
      const runs = world.newRuns(40, { tags: '{"team":"all"}' })
      const lease = await world.start({ tags: '{"team":"all","one":"yes"}' })
      await world.end(lease, { to: 'failed', cause: 'exit' })
      await world.submit(...runs)
      const all = { name: 'team', values: ['all'] }
      const ways: Partial<RunSearch>[] = [
        { tags: [all, { name: 'one', values: ['yes'] }] },
        { tags: [all], states: ['failed'] },
      ]
      for (const way of ways) {
        const { found, sizes } = await walk(world, { ...way, examine: 4 })
        assert.deepEqual([ids(found), sizes], [[lease.runId], [1]])
      }
    }),
  )

  test(
    'a search is bounded by ids: created since and until',
    inWorld(async (world) => {
      const [old] = world.newRuns(1)
      await world.submit(old!)
      world.clock.advance(1_000)
      const sinceMs = world.clock.now()
      const [young] = world.newRuns(1)
      await world.submit(young!)
      const since = await walk(world, { from: idAtMs(sinceMs) })
      assert.deepEqual(ids(since.found), [young!.id])
      const search = { ...ANY, projectId: world.project, before: idAtMs(sinceMs) }
      assert.deepEqual(ids((await world.store.searchRuns(search)).runs), [old!.id])
    }),
  )

  test(
    'a time limit ends a page, which continues later',
    inWorld(async (world) => {
      await world.submit(...world.newRuns(20))
      const search = { workers: ['nobody'], examine: 16, maxMs: 0 }
      const { found, sizes } = await walk(world, search)
      assert.deepEqual([found.length, sizes.length >= 20], [0, true])
    }),
  )

  test(
    'tags of pruned runs are deleted with them',
    inWorld(async (world) => {
      const lease = await world.start({ tags: '{"team":"gone"}' })
      await world.end(lease)
      const tags = [{ name: 'team', values: ['gone'] }]
      assert.deepEqual(ids((await walk(world, { tags })).found), [lease.runId])
      world.clock.advance(30 * DAY_MS)
      while ((await world.store.prune({ endedBefore: world.clock.now(), limit: 100 })).more);
      assert.deepEqual((await walk(world, { tags })).found, [])
    }),
  )
}
