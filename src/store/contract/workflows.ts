import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreError } from '../port.ts'
import { DAY_MS, ids, only } from './fixture.ts'
import { ENDED_WELL, type FlowWorld, mark, move, withFlows } from './workflow-fixture.ts'
import { onFreshStores, onSharedStore, type OpenStore } from './world.ts'

export function flowsContract(open: OpenStore): void {
  const inAnyWorld = onSharedStore(open)
  const inFlows = (body: (world: FlowWorld) => Promise<void>) =>
    inAnyWorld(async (world) => body(await withFlows(world)))

  test(
    'a flow begins: its run is under way, and nobody has a lease',
    inFlows(async (world) => {
      const flow = await world.begin({ input: '{"a":1}', version: 3, timeoutMs: 5_000 })
      const { runId, ...rest } = flow
      assert.deepEqual(rest, {
        ...{ revision: 0, projectId: world.project, jobId: world.job, version: 3, wave: 1 },
        ...{ node: world.node, beganAt: world.clock.now(), lookAt: flow.lookAt, rank: 0 },
        ...{ cancelling: false, endedAt: null, timeoutMs: 5_000, retryOf: null, createdBy: null },
        ...{ policy: null, work: null, tags: null, input: '{"a":1}' },
      })
      const run = await world.find(runId)
      assert.deepEqual([run.state, run.fence, run.startedAt], ['running', null, flow.beganAt])
      const { node, store } = world
      assert.deepEqual(await store.ownLeases({ node, after: 0, limit: 10 }), [])
      assert.deepEqual(await world.claim(1, { laneId: world.flowLane }), [])
      assert.deepEqual(await world.beginAll(), [])
      const listed = await store.listRuns({
        ...{ projectId: world.project, state: 'running', jobId: null },
        ...{ before: Number.MAX_SAFE_INTEGER, limit: 10 },
      })
      assert.deepEqual(ids(listed), [runId])
    }),
  )

  test(
    'who is first in line begins first, and waves are counted by job',
    inFlows(async (world) => {
      const other = only(
        await world.store.internJobs([{ projectId: world.project, name: 'tidy-outbox' }]),
      )
      const laneId = world.flowLane
      const [late, urgent] = [world.newRun({ laneId }), world.newRun({ laneId, rank: -5 })]
      const elsewhere = world.newRun({ laneId, jobId: other })
      await world.submit(late, urgent, elsewhere)
      const first = await world.beginAll(2)
      assert.deepEqual(
        first.map(({ runId, wave }) => [runId, wave]),
        [
          [urgent.id, 1],
          [late.id, 2],
        ],
      )
      const { runId, wave } = only(await world.beginAll())
      assert.deepEqual([runId, wave], [elsewhere.id, 1])
    }),
  )

  test(
    'a run that repeats another is of its wave',
    inFlows(async (world) => {
      const first = await world.begin()
      await world.advance(move(first, { end: { ...ENDED_WELL, state: 'failed' } }))
      assert.equal((await world.begin()).wave, 2)
      assert.equal((await world.begin({ retryOf: first.runId })).wave, 1)
      const plain = await world.start()
      assert.equal((await world.begin({ retryOf: plain.runId })).wave, 3)
    }),
  )

  test(
    'a move starts runs and writes down what it says, once',
    inFlows(async (world) => {
      const flow = await world.begin()
      const run = world.newRun({ work: '{"executor":"shell"}' })
      const said = mark(1, 'skipped', { reason: 'condition', message: 'not today' })
      const group = mark(2, 'running', { count: 3, detail: '[1,2,3]' })
      const asked = mark(3, 'waiting', { dueAt: 9_000_000 })
      const starts = [{ step: 0, item: -1, run }]
      const first = move(flow, { starts, marks: [said, group, asked], lookAt: 9_000_000 })
      const answer = await world.advance(first)
      assert.deepEqual(answer, {
        ...{ now: world.clock.now(), verdicts: ['advanced'], started: [], lanes: [world.lane] },
        ...{ nextDueAt: null, news: [] },
      })
      assert.deepEqual((await world.advance(first)).verdicts, ['behind'])

      const { revision, lookAt } = await world.flow(flow.runId)
      assert.deepEqual([revision, lookAt], [1, 9_000_000])
      const now = world.clock.now()
      const record = { isNews: false, startedAt: now, finishedAt: null }
      assert.deepEqual(await world.steps(flow.runId), [
        { ...mark(0, 'running', { runId: run.id }), ...record },
        { ...said, ...record, finishedAt: now },
        { ...group, ...record },
        { ...asked, ...record },
      ])
      assert.deepEqual(
        (await world.claim(5)).map(({ runId, work }) => [runId, work]),
        [[run.id, run.work]],
      )
    }),
  )

  test(
    'the run of a step goes straight to the session it is promised to, unless it has to wait',
    inFlows(async (world) => {
      const flow = await world.begin()
      const promised = world.newRun({ handOff: world.handOff() })
      const later = world.newRun({ handOff: world.handOff(), dueAt: world.clock.now() + 5_000 })
      const starts = [promised, later].map((run, step) => ({ step, item: -1, run }))
      const { started, lanes } = await world.advance(move(flow, { starts }))
      assert.deepEqual([started, lanes], [[promised.id], []])
      assert.deepEqual(await world.claim(5), [])
    }),
  )

  test(
    'what was said of a step can be said anew, and it began when it began',
    inFlows(async (world) => {
      const flow = await world.begin()
      await world.advance(move(flow, { marks: [mark(0, 'waiting', { dueAt: 5 })] }))
      world.clock.advance(1_000)
      const yes = mark(0, 'succeeded', { detail: '{"by":"ann"}' })
      // What is said last of a step counts, also within a move.
      await world.advance(move({ ...flow, revision: 1 }, { marks: [mark(0, 'waiting'), yes] }))
      const now = world.clock.now()
      assert.deepEqual(await world.steps(flow.runId), [
        { ...yes, isNews: false, startedAt: now - 1_000, finishedAt: now },
      ])
    }),
  )

  test(
    'a move that is behind holds up no other, and changes nothing',
    inFlows(async (world) => {
      const [behind, ahead] = [await world.begin(), await world.begin()]
      const starts = [{ step: 0, item: -1, run: world.newRun() }]
      const stale = move({ ...behind, revision: 7 }, { starts, end: ENDED_WELL })
      const { verdicts, lanes } = await world.advance(stale, move(ahead, { lookAt: 5 }))
      assert.deepEqual([verdicts, lanes], [['behind', 'advanced'], []])
      assert.deepEqual(await world.steps(behind.runId), [])
      assert.equal((await world.flow(behind.runId)).revision, 0)
      const again = await world.advance(move({ ...ahead, revision: 1 }), move(ahead))
      assert.deepEqual(again.verdicts, ['advanced', 'behind'])
    }),
  )

  test(
    'a step that was started is never started again, whatever is asked for',
    inFlows(async (world) => {
      const { flow } = await world.beginWith(1)
      const starts = [{ step: 0, item: -1, run: world.newRun() }]
      const isRefused = (error: unknown) =>
        error instanceof StoreError && error.outcome === 'refused'
      await assert.rejects(world.advance(move(flow, { starts })), isRefused)
      // Nor is it said to be over while its run is under way.
      const marks = [mark(0, 'skipped')]
      await assert.rejects(world.advance(move(flow, { marks })), isRefused)
      assert.equal((await world.flow(flow.runId)).revision, flow.revision)
      assert.equal((await world.steps(flow.runId)).length, 1)
    }),
  )

  test(
    'runs of steps wait for their time and at their gates like others',
    inFlows(async (world) => {
      const flow = await world.begin()
      const gates = [await world.gate('door', 1)]
      const dueAt = world.clock.now() + 5_000
      const [later, first, second] = [
        world.newRun({ dueAt }),
        world.newRun({ gates }),
        world.newRun({ gates }),
      ]
      const starts = [later, first, second].map((run, step) => ({ step, item: -1, run }))
      const answer = await world.advance(move(flow, { starts }))
      assert.deepEqual([answer.nextDueAt, answer.lanes], [dueAt, [world.lane]])
      const states = await Promise.all([later, first, second].map(({ id }) => world.stateOf(id)))
      assert.deepEqual(states, ['scheduled', 'ready', 'blocked'])
    }),
  )

  test(
    'a flow ends like any run: its places and keys are free, and it is over',
    inFlows(async (world) => {
      const gates = [await world.gate('one wave', 1)]
      const laneId = world.flowLane
      const flow = await world.begin({ gates, dedupeKey: 'nightly' })
      const next = world.newRun({ gates, laneId })
      await world.submit(next)
      assert.deepEqual(await world.beginAll(), [])
      world.clock.advance(50)
      const end = { state: 'failed', cause: 'error', message: 'step 3', result: '[1]' } as const
      const { lanes } = await world.advance(move(flow, { end, lookAt: 5 }))
      assert.deepEqual(lanes, [laneId])
      const run = await world.find(flow.runId)
      const { state, cause, message, result, startedAt, finishedAt, fence, attempt } = run
      assert.deepEqual({ state, cause, message, result }, end)
      assert.deepEqual([startedAt, fence, attempt], [flow.beganAt, null, 1])
      assert.equal(finishedAt, world.clock.now())
      const { endedAt, lookAt, wave } = await world.flow(flow.runId)
      assert.deepEqual([endedAt, lookAt, wave], [finishedAt, null, 1])
      assert.deepEqual((await world.advance(move({ ...flow, revision: 1 }))).verdicts, ['behind'])
      const again = world.newRun({ laneId, dedupeKey: 'nightly' })
      assert.deepEqual(await world.submit(again), [{ kind: 'inserted' }])
      assert.deepEqual(
        (await world.beginAll()).map(({ runId }) => runId),
        [next.id, again.id],
      )
    }),
  )

  test(
    'steps of a large flow are read page by page',
    inFlows(async (world) => {
      const flow = await world.begin()
      const items = Array.from({ length: 25 }, (_, item) => mark(1, 'succeeded', { item }))
      await world.advance(move(flow, { marks: [mark(0, 'succeeded'), ...items] }))
      const seen: string[] = []
      for (let after: { step: number; item: number } | null = null; ;) {
        const page = await world.store.flowSteps({ flowId: flow.runId, after, limit: 10 })
        seen.push(...page.map(({ step, item }) => `${step}.${item}`))
        if (page.length < 10) break
        after = page.at(-1) ?? null
      }
      assert.deepEqual(seen, ['0.-1', ...items.map(({ item }) => `1.${item}`)])
    }),
  )

  test(
    'steps are counted by their state, news included, and items not',
    inFlows(async (world) => {
      const { flow } = await world.beginWith(2)
      const items = Array.from({ length: 3 }, (_, item) => mark(2, 'failed', { item }))
      const marks = [mark(2, 'running', { count: 3 }), ...items, mark(3, 'waiting')]
      await world.advance(move(flow, { marks }))
      await world.end(only(await world.claim(1)), { result: '42' })
      const counts = await world.store.countSteps({ flowId: flow.runId })
      assert.deepEqual(Object.fromEntries(counts.map(({ state, count }) => [state, count])), {
        ...{ running: 2, waiting: 1, succeeded: 1 },
      })
      assert.deepEqual(await world.store.countSteps({ flowId: flow.runId + 1 }), [])
    }),
  )

  test(
    'a step that is taken over leads to the run it was, in both flows',
    inFlows(async (world) => {
      const { flow, runs } = await world.beginWith(1)
      const runId = only(ids(runs))
      await world.end(only(await world.claim(1)), { result: '42' })
      const heir = await world.begin({ retryOf: flow.runId })
      await world.advance(move(heir, { marks: [mark(0, 'succeeded', { runId })] }))
      const found = await world.store.stepsOfRuns({ runIds: [runId] })
      assert.deepEqual(
        found.map(({ flowId }) => flowId).toSorted((a, b) => a - b),
        [flow.runId, heir.runId],
      )
      assert.deepEqual(await world.store.resultsOf({ runIds: [runId, heir.runId] }), [
        { runId, state: 'succeeded', result: '42' },
      ])
    }),
  )

  test(
    'what people did with a flow is in the record if it was done',
    inFlows(async (world) => {
      const flow = await world.begin()
      const entry = {
        ...{ projectId: world.project, actor: null, action: 'flow.skip', target: 'load' },
        ...{ detail: null, request: null, address: null },
      }
      await world.advance(move({ ...flow, revision: 4 }, { audit: entry }))
      await world.advance(move(flow, { audit: entry }))
      const { project: projectId, store } = world
      const filter = { projectId, before: Number.MAX_SAFE_INTEGER, limit: 10 }
      assert.equal((await store.listAudit(filter)).length, 1)
    }),
  )

  const inFreshWorld = onFreshStores(open)
  test(
    'a flow and its steps are forgotten with its run, and not before',
    inFreshWorld(async (given) => {
      const world = await withFlows(given)
      const { store, clock } = world
      const first = await world.begin()
      const marks = Array.from({ length: 25 }, (_, step) => mark(step, 'succeeded'))
      await world.advance(move(first, { marks }))
      const live = await world.begin()
      clock.advance(DAY_MS)
      await world.advance(move({ ...first, revision: 1 }, { end: ENDED_WELL }))
      const prune = async (endedBefore: number) => {
        while ((await store.prune({ endedBefore, limit: 10 })).more);
      }
      await prune(clock.now() - 1)
      assert.equal((await world.steps(first.runId)).length, 25)
      clock.advance(20 * DAY_MS)
      await prune(clock.now())
      assert.deepEqual(await store.findFlows({ runIds: [first.runId] }), [])
      assert.deepEqual(await world.steps(first.runId), [])
      assert.equal((await world.flow(live.runId)).runId, live.runId)
      assert.equal(await world.stateOf(live.runId), 'running')
    }),
  )
}
