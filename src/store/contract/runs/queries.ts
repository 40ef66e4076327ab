import assert from 'node:assert/strict'
import { test } from 'node:test'
import { STATES } from '../../../core/run/run-state.ts'
import type { NewRun, RunRecord } from '../../port.ts'
import { at, HOUR_MS, ids, only } from '../fixture.ts'
import { onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

const HOSTILE: readonly [why: string, text: string][] = [
  ['quotes and comments', `'; DROP TABLE run; --" \\' \\\\ \` $1 ?1 :a @b %s {0} /* */ \${x}`],
  ['array and row syntax', '{a,"b",NULL} (1,2) ARRAY[1] [null] \\x00ff'],
  ['emoji and combining marks', '👩‍👩‍👧‍👦 é é ﷽ Z̷̢͝a̶lgo 🇦🇹'],
  ['right-to-left override', 'ab\u202Edc\u202C \u200F \u200B \uFEFF'],
  ['line ends, tabs and escapes', 'a\r\nb\n\tc\u001b[31m\u0007\u007f\u0085\u2028'],
  ['nothing at all', ''],
  ['the word null', 'null'],
  ['sixty-four thousand bytes', JSON.stringify('å'.repeat(32 * 1024 - 1))],
]

async function fillEveryState(
  world: StoreWorld,
): Promise<Map<number, { state: string; jobId: number }>> {
  const other = only(await world.store.internJobs([{ projectId: world.project, name: 'other' }]))
  const gates = [await world.gate('door', 0)]
  const dueAt = world.clock.now() + HOUR_MS
  const expected = new Map<number, { state: string; jobId: number }>()
  const ends = ['succeeded', 'failed', 'cancelled'] as const
  for (let round = 0; round < 4; round += 1) {
    for (const jobId of [world.job, other]) {
      for (const to of ends) {
        const lease = await world.start({ jobId })
        await world.end(lease, { to, cause: to === 'succeeded' ? null : 'exit' })
        expected.set(lease.runId, { state: to, jobId })
      }
      const running = await world.start({ jobId })
      expected.set(running.runId, { state: 'running', jobId })
      for (const [state, how] of [
        ['scheduled', { dueAt }],
        ['blocked', { gates }],
      ] as const) {
        const run = world.newRun({ jobId, ...how })
        await world.submit(run)
        expected.set(run.id, { state, jobId })
      }
      world.clock.advance(10)
    }
  }
  const ready = world
    .newRuns(8)
    .map((run, index) => ({ ...run, jobId: index % 2 ? other : world.job }))
  await world.submit(...ready)
  for (const { id, jobId } of ready) expected.set(id, { state: 'ready', jobId })
  return expected
}

export function queriesContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  test(
    'a waiting run reports what it waits for: its time, its queue, or its gate and the holders',
    inWorld(async (world) => {
      const { store, clock } = world
      const waitOf = (run: NewRun, maxCount = 100) =>
        store.waitOf({ runId: run.id, maxCount: maxCount })
      const later = world.newRun({ dueAt: clock.now() + 5_000 })
      const line = world.newRuns(4)
      const urgent = world.newRun({ rank: -5 })
      await world.submit(later, ...line, urgent)
      const nothing = { timerAt: null, ahead: null, gate: null, after: [] }
      assert.deepEqual(await waitOf(later), { ...nothing, timerAt: clock.now() + 5_000 })
      assert.deepEqual(await waitOf(urgent), { ...nothing, ahead: 0 })
      assert.deepEqual(await waitOf(at(line, 3)), { ...nothing, ahead: 4 })
      assert.equal((await waitOf(at(line, 3), 2))?.ahead, 2)

      const gate = await world.gate('narrow', 1)
      const [holder, blocked] = world.newRuns(2, {
        gates: [gate],
        laneId: await world.internLane('g'),
      })
      await world.submit(holder as NewRun, blocked as NewRun)
      const held = { name: 'narrow', capacity: 1, holders: 1, heldBy: [holder?.id] }
      assert.deepEqual(await waitOf(blocked as NewRun), { ...nothing, gate: held })

      const lease = await world.start({ laneId: await world.internLane('w') })
      assert.equal(await store.waitOf({ runId: lease.runId, maxCount: 9 }), null)
      await world.end(lease, { to: 'retry', cause: 'error', delayMs: 700, pos: world.mint() })
      const retried = await store.waitOf({ runId: lease.runId, maxCount: 9 })
      assert.equal(retried?.timerAt, clock.now() + 700)
      assert.equal(await store.waitOf({ runId: world.mint(), maxCount: 9 }), null)
    }),
  )

  test(
    'pages of any size contain every matching run once, newest first, and no other',
    inWorld(async (world) => {
      const expected = await fillEveryState(world)
      const jobs = [null, ...new Set([...expected.values()].map(({ jobId }) => jobId))]
      for (const state of [null, ...STATES]) {
        for (const jobId of jobs) {
          const wanted = [...expected]
            .filter(([, run]) => state === null || run.state === state)
            .filter(([, run]) => jobId === null || run.jobId === jobId)
            .map(([id]) => id)
            .toSorted((a, b) => b - a)
          for (const limit of [1, 3, 500]) {
            const found = await pages(world, { state, jobId, limit })
            assert.deepEqual(ids(found), wanted, `${state} of job ${jobId} by ${limit}`)
          }
        }
      }
      const counts = await world.store.liveCounts()
      assert.deepEqual(counts, { ready: 8, scheduled: 8, blocked: 8, running: 8 })
    }),
  )

  test(
    'runs found together equal those found one by one, of any project',
    inWorld(async (world) => {
      const expected = await fillEveryState(world)
      const theirs = world.newRun({ projectId: world.otherProject })
      await world.submit(theirs)
      const runIds = [...expected.keys(), world.mint(), theirs.id]
      const found = new Map((await world.store.findRuns({ runIds })).map((run) => [run.id, run]))
      assert.equal(found.size, expected.size + 1)
      assert.equal(found.get(theirs.id)?.projectId, world.otherProject)
      for (const runId of expected.keys()) {
        const alone = await world.store.findRun({ projectId: world.project, runId })
        assert.deepEqual(found.get(runId), alone)
      }
      assert.deepEqual(await world.store.findRuns({ runIds: [] }), [])
    }),
  )

  test(
    'another project sees none of the runs',
    inWorld(async (world) => {
      const expected = await fillEveryState(world)
      const projectId = world.otherProject
      for (const runId of expected.keys()) {
        assert.equal(await world.store.findRun({ projectId, runId }), null)
      }
      for (const state of [null, ...STATES]) {
        for (const jobId of [null, world.job]) {
          const page = { projectId, state, jobId, before: Number.MAX_SAFE_INTEGER, limit: 500 }
          assert.deepEqual(await world.store.listRuns(page), [])
        }
      }
    }),
  )

  test(
    'a page ends below the id it starts from',
    inWorld(async (world) => {
      const runs = world.newRuns(3)
      await world.submit(...runs)
      const page = { projectId: world.project, state: null, jobId: null, limit: 10 }
      const below = (before: number) => world.store.listRuns({ ...page, before })
      assert.deepEqual(ids(await below(at(runs, 1).id)), [at(runs, 0).id])
      assert.deepEqual(await below(at(runs, 0).id), [])
      assert.deepEqual(await below(0), [])
    }),
  )

  test(
    'an unknown run is not found',
    inWorld(async (world) => {
      for (const runId of [0, world.mint(), Number.MAX_SAFE_INTEGER]) {
        assert.equal(await world.store.findRun({ projectId: world.project, runId }), null)
      }
    }),
  )

  test(
    'a run record is complete in every state',
    inWorld(async (world) => {
      const t0 = world.clock.now()
      const gate = await world.gate('door', 1)
      const run = world.newRun({
        rank: 3,
        dueAt: t0 + 1_000,
        timeoutMs: 9_000,
        policy: '{"retry":{"max":1}}',
        version: 4,
        createdBy: 9,
        work: '{"executor":"argv","argv":["true"]}',
        input: '{"n":1}',
        tags: '{"team":"a"}',
        gates: [gate],
        retryOf: 12_345,
      })
      await world.submit(run)
      const always = record(run, t0)
      const story = async (changes: Partial<RunRecord>) =>
        assert.deepEqual(await world.find(run.id), { ...always, ...changes })
      await story({ state: 'scheduled' })

      const holder = await world.start({ gates: [gate], rank: 3 })
      world.clock.advance(1_000)
      await world.store.promote({ positions: [world.mint()] })
      await story({ state: 'blocked' })
      await world.end(holder)
      await story({ state: 'ready' })

      const lease = only(await world.claim(1))
      const { fence } = lease
      await story({ state: 'running', startedAt: t0 + 1_000, fence })
      await world.cancel(run.id)
      await story({ state: 'running', startedAt: t0 + 1_000, fence, cancelling: true })
      world.clock.advance(50)
      const end = {
        worker: 'w-7',
        message: 'stopped',
        result: '{"half":true}',
        process: '{"signal":"SIGTERM"}',
      }
      await world.end(lease, { to: 'cancelled', cause: 'signal', ...end })
      await story({
        state: 'cancelled',
        cause: 'signal',
        startedAt: t0 + 1_000,
        finishedAt: t0 + 1_050,
        fence,
        ...end,
      })
    }),
  )

  test(
    'the last attempt counts for a run that was retried',
    inWorld(async (world) => {
      const first = await world.start()
      world.clock.advance(100)
      const failure = { worker: 'w-1', message: 'first', result: '1' }
      await world.end(first, { to: 'retry', cause: 'exit', ...failure })
      world.clock.advance(100)
      const second = only(await world.claim(1))
      const running = await world.find(first.runId)
      assert.deepEqual([running.attempt, running.startedAt], [2, world.clock.now()])
      world.clock.advance(100)
      await world.end(second, { worker: 'w-2', result: '2' })
      const { attempt, cause, message, worker, result, startedAt, finishedAt } = await world.find(
        first.runId,
      )
      assert.deepEqual([attempt, cause, message, worker, result], [2, null, null, 'w-2', '2'])
      assert.deepEqual([startedAt, finishedAt], [second.startedAt, world.clock.now()])
    }),
  )

  for (const [why, text] of HOSTILE) {
    test(
      `text is returned as it was sent: ${why}`,
      inWorld(async (world) => {
        const run = world.newRun({
          input: text,
          tags: text,
          policy: text,
          dedupeKey: text.slice(0, 250),
          idempotency: { key: text.slice(0, 250), digest: text, until: world.clock.now() + 1_000 },
        })
        await world.submit(run)
        const key = { dedupeKey: run.dedupeKey, idempotency: run.idempotency }
        const duplicate = { kind: 'duplicate', id: run.id }
        assert.deepEqual(await world.submit(world.newRun(key)), [duplicate])
        const lease = only(await world.claim(1))
        assert.deepEqual([lease.input, lease.policy], [text, text])
        await world.end(lease, { worker: text, message: text, result: text })
        const found = await world.find(run.id)
        const { input, tags, policy, worker, message, result } = found
        assert.deepEqual(new Set([input, tags, policy, worker, message, result]), new Set([text]))
        const job = { projectId: world.project, name: text.slice(0, 128) }
        const jobId = only(await world.store.internJobs([job]))
        assert.equal((await world.store.jobNames([jobId])).get(jobId), job.name)
      }),
    )
  }
}

async function pages(
  { store, project }: StoreWorld,
  filter: Pick<Parameters<StoreWorld['store']['listRuns']>[0], 'state' | 'jobId' | 'limit'>,
): Promise<RunRecord[]> {
  const found: RunRecord[] = []
  for (let before = Number.MAX_SAFE_INTEGER; ;) {
    const page = await store.listRuns({ projectId: project, before, ...filter })
    assert.ok(page.length <= filter.limit)
    const last = page.at(-1)
    if (!last) return found
    found.push(...page)
    before = last.id
  }
}

/** The record of a run without any event yet. */
function record(run: NewRun, createdAt: number): RunRecord {
  const {
    id,
    projectId,
    jobId,
    laneId,
    rank,
    dueAt,
    timeoutMs,
    policy,
    version,
    createdBy,
    work,
    input,
    tags,
    gates,
    retryOf,
  } = run
  return {
    id,
    projectId,
    jobId,
    laneId,
    rank,
    dueAt,
    timeoutMs,
    policy,
    input,
    tags,
    retryOf,
    version,
    createdBy,
    work,
    gates: [...gates],
    state: 'ready',
    cancelling: false,
    attempt: 1,
    fence: null,
    lost: 0,
    cause: null,
    message: null,
    worker: null,
    createdAt,
    startedAt: null,
    finishedAt: null,
    result: null,
    process: null,
  }
}
