import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at, endOf, ids, only } from './fixture.ts'
import {
  ENDED_WELL,
  type FlowWorld,
  mark,
  move,
  UNHEARD_MS,
  withFlows,
} from './workflow-fixture.ts'
import { onSharedStore, type OpenStore } from './world.ts'

export function flowNewsContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)
  const inFlows = (body: (world: FlowWorld) => Promise<void>) =>
    inWorld(async (world) => body(await withFlows(world)))

  test(
    'ends of steps are told by the tick that wrote them, and written down',
    inFlows(async (world) => {
      const { flow, runs } = await world.beginWith(3)
      const flowId = flow.runId
      const [first, second, third] = await world.claim(3)
      assert.ok(first && second && third)
      world.clock.advance(10)
      const { news } = await world.tick({
        ends: [
          endOf(second, { to: 'failed', cause: 'exit' }),
          endOf(first),
          endOf(third, { to: 'retry', cause: 'exit', delayMs: 5 }),
        ],
      })
      const ofStep = { kind: 'step', flowId, item: -1 }
      assert.deepEqual(news, [
        { ...ofStep, step: 0, state: 'succeeded' },
        { ...ofStep, step: 1, state: 'failed' },
      ])
      const finishedAt = world.clock.now()
      const known = (await world.steps(flowId)).map((step) => ({
        ...{ runId: step.runId, state: step.state, isNews: step.isNews },
        finishedAt: step.finishedAt,
      }))
      const [a, b, c] = ids(runs)
      assert.deepEqual(known, [
        { runId: a, state: 'succeeded', isNews: true, finishedAt },
        { runId: b, state: 'failed', isNews: true, finishedAt },
        { runId: c, state: 'running', isNews: false, finishedAt: null },
      ])
    }),
  )

  test(
    'a report that comes twice is told once',
    inFlows(async (world) => {
      await world.beginWith(1)
      const lease = only(await world.claim(1))
      assert.equal((await world.tick({ ends: [endOf(lease)] })).news.length, 1)
      assert.deepEqual((await world.tick({ ends: [endOf(lease)] })).news, [])
    }),
  )

  test(
    'one that waits and is cancelled is told too; one that runs, when it has ended',
    inFlows(async (world) => {
      const { flow, runs } = await world.beginWith(2)
      const [running, waiting] = ids(runs) as [number, number]
      const lease = only(await world.claim(1))
      const cancels = [running, waiting].map((runId) => ({ runId, projectId: world.project }))
      const ofStep = { kind: 'step', flowId: flow.runId, item: -1, state: 'cancelled' }
      assert.deepEqual((await world.tick({ cancels })).news, [{ ...ofStep, step: 1 }])
      const ends = [endOf(lease, { to: 'failed', cause: 'cancelled' })]
      assert.deepEqual((await world.tick({ ends })).news, [{ ...ofStep, step: 0 }])
    }),
  )

  test(
    'runs that belong to no flow are no news',
    inFlows(async (world) => {
      await world.beginWith(1)
      await world.submit(...world.newRuns(5))
      const [ofFlow, ...others] = await world.claim(6)
      assert.ok(ofFlow)
      assert.deepEqual((await world.tick({ ends: others.map((lease) => endOf(lease)) })).news, [])
      assert.equal((await world.tick({ ends: [endOf(ofFlow)] })).news.length, 1)
    }),
  )

  test(
    'what nobody has heard makes a flow restless after a while',
    inFlows(async (world) => {
      const { flow } = await world.beginWith(1)
      const { runId, revision } = flow
      const lease = only(await world.claim(1))
      world.clock.advance(100_000)
      assert.deepEqual(await world.restless(), [])
      await world.end(lease)
      world.clock.advance(UNHEARD_MS - 1)
      assert.deepEqual(await world.restless(), [])
      world.clock.advance(1)
      assert.deepEqual(await world.restless(), [runId])
      const heard = [{ step: 0, item: -1 }]
      await world.advance(move({ runId, revision }, { heard }))
      assert.deepEqual(await world.restless(), [])
      const step = only(await world.steps(runId))
      assert.deepEqual([step.state, step.isNews], ['succeeded', false])
      assert.equal(step.finishedAt, world.clock.now() - UNHEARD_MS)
    }),
  )

  test(
    'a flow with many news takes no more room among the restless than one with a single one',
    inFlows(async (world) => {
      const many = await world.beginWith(5)
      for (const lease of await world.claim(5)) await world.end(lease)
      world.clock.advance(1)
      const single = await world.beginWith(1)
      await world.end(only(await world.claim(1)))
      world.clock.advance(UNHEARD_MS)
      const found = await world.store.restlessFlows({ limit: 2, olderThanMs: UNHEARD_MS })
      assert.deepEqual(
        found.map(({ runId }) => runId).toSorted((a, b) => a - b),
        [many.flow.runId, single.flow.runId],
      )
      await world.advance(...found.map((place) => move(place, { end: ENDED_WELL })))
      assert.deepEqual(await world.restless(), [])
    }),
  )

  test(
    'runs that outlive their flow are news to nobody, and keep nobody from being found',
    inFlows(async (world) => {
      const leases = []
      for (let nth = 0; nth < 3; nth += 1) {
        const { flow } = await world.beginWith(1)
        leases.push(only(await world.claim(1)))
        await world.advance(move(flow, { end: ENDED_WELL }))
      }
      for (const lease of leases) await world.end(lease)
      const { flow } = await world.beginWith(1)
      await world.end(only(await world.claim(1)))
      world.clock.advance(UNHEARD_MS)
      const found = await world.store.restlessFlows({ limit: 1, olderThanMs: UNHEARD_MS })
      assert.deepEqual(
        found.map(({ runId }) => runId),
        [flow.runId],
      )
      await world.advance(move(flow, { end: ENDED_WELL }))
      assert.deepEqual(await world.restless(), [])
    }),
  )

  test(
    'what is not heard stays news, whatever else is done',
    inFlows(async (world) => {
      const { flow } = await world.beginWith(2)
      const leases = await world.claim(2)
      await world.tick({ ends: leases.map((lease) => endOf(lease)) })
      await world.advance(
        move(flow, { heard: [{ step: 0, item: -1 }], marks: [mark(5, 'skipped')] }),
      )
      const news = (await world.steps(flow.runId)).filter(({ isNews }) => isNews)
      assert.deepEqual(
        news.map(({ step }) => step),
        [1],
      )
    }),
  )

  test(
    'a flow whose time has come is restless, and one that nobody went on with',
    inFlows(async (world) => {
      const { runId } = await world.begin()
      assert.deepEqual(await world.restless(), [])
      world.clock.advance(10_000)
      assert.deepEqual(await world.restless(), [runId])
      const lookAt = world.clock.now() + 500
      await world.advance(move({ runId, revision: 0 }, { lookAt }))
      assert.deepEqual(await world.restless(), [])
      world.clock.advance(500)
      assert.deepEqual(await world.restless(), [runId])
      await world.advance(move({ runId, revision: 1 }, { end: ENDED_WELL, lookAt }))
      assert.deepEqual(await world.restless(), [])
    }),
  )

  test(
    'a flow that is to be cancelled is told at once, and moves on from there only',
    inFlows(async (world) => {
      const { flow } = await world.beginWith(1)
      const { runId } = flow
      const cancels = [{ runId, projectId: world.project }]
      const first = await world.tick({ cancels })
      assert.deepEqual(first.cancels, [{ kind: 'marked', node: world.node }])
      assert.deepEqual(first.news, [{ kind: 'cancel', flowId: runId }])
      assert.deepEqual(await world.restless(), [runId])
      const again = await world.tick({ cancels })
      assert.deepEqual(again.cancels, [{ kind: 'marked', node: world.node }])
      assert.deepEqual(again.news, [])

      const run = await world.find(runId)
      assert.deepEqual([run.state, run.cancelling], ['running', true])
      const marked = await world.flow(runId)
      assert.deepEqual([marked.cancelling, marked.revision], [true, flow.revision + 1])
      assert.deepEqual((await world.advance(move(flow, { end: ENDED_WELL }))).verdicts, ['behind'])
      const end = { ...ENDED_WELL, state: 'cancelled', cause: 'cancelled' } as const
      await world.end(only(await world.claim(1)))
      await world.advance(move(marked, { end }))
      const step = only(await world.steps(runId))
      assert.deepEqual([step.state, step.isNews], ['succeeded', false])
      world.clock.advance(UNHEARD_MS)
      assert.deepEqual(await world.restless(), [])
      assert.equal(await world.stateOf(runId), 'cancelled')
      assert.deepEqual(await world.cancel(runId), { kind: 'final', state: 'cancelled' })
    }),
  )

  test(
    'a flow that has not begun is cancelled like any run that waits',
    inFlows(async (world) => {
      const run = world.newRun({ laneId: world.flowLane })
      await world.submit(run)
      assert.deepEqual(await world.cancel(run.id), { kind: 'cancelled' })
      assert.deepEqual(await world.beginAll(), [])
    }),
  )

  test(
    'a flow within a flow is a step whose end is told when it ends',
    inFlows(async (world) => {
      const outer = await world.begin()
      const run = world.newRun({ laneId: world.flowLane })
      await world.advance(move(outer, { starts: [{ step: 4, item: 2, run }] }))
      const inner = only(await world.beginAll())
      const end = { ...ENDED_WELL, state: 'failed' } as const
      const { news } = await world.advance(move(inner, { end }))
      const key = { flowId: outer.runId, step: 4, item: 2 }
      assert.deepEqual(news, [{ kind: 'step', ...key, state: 'failed' }])
      assert.equal(at(await world.steps(outer.runId), 0).state, 'failed')
    }),
  )
}
