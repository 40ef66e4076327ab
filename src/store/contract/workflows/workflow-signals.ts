import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at, endCommandFor, ids, only } from '../fixture.ts'
import {
  SUCCEEDED_OUTCOME,
  type ContractWorkflowWorld,
  stepMark,
  transitionFrom,
  UNPROCESSED_MS,
  withWorkflows,
} from './workflow-fixture.ts'
import { onSharedStore, type OpenStore } from '../world.ts'

export function workflowSignalsContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)
  const inWorkflows = (body: (world: ContractWorkflowWorld) => Promise<void>) =>
    inWorld(async (world) => body(await withWorkflows(world)))

  test(
    'ends of steps are signalled by the tick that wrote them, and recorded',
    inWorkflows(async (world) => {
      const { workflow, runs } = await world.beginWith(3)
      const workflowId = workflow.runId
      const [first, second, third] = await world.claim(3)
      assert.ok(first && second && third)
      world.clock.advance(10)
      const { signals } = await world.tick({
        ends: [
          endCommandFor(second, { to: 'failed', cause: 'exit' }),
          endCommandFor(first),
          endCommandFor(third, { to: 'retry', cause: 'exit', delayMs: 5 }),
        ],
      })
      const ofStep = { kind: 'step', workflowId, item: -1 }
      assert.deepEqual(signals, [
        { ...ofStep, step: 0, state: 'succeeded' },
        { ...ofStep, step: 1, state: 'failed' },
      ])
      const finishedAt = world.clock.now()
      const known = (await world.steps(workflowId)).map((step) => ({
        runId: step.runId,
        state: step.state,
        isUnprocessed: step.isUnprocessed,
        finishedAt: step.finishedAt,
      }))
      const [a, b, c] = ids(runs)
      assert.deepEqual(known, [
        { runId: a, state: 'succeeded', isUnprocessed: true, finishedAt },
        { runId: b, state: 'failed', isUnprocessed: true, finishedAt },
        { runId: c, state: 'running', isUnprocessed: false, finishedAt: null },
      ])
    }),
  )

  test(
    'a report that comes twice is signalled once',
    inWorkflows(async (world) => {
      await world.beginWith(1)
      const lease = only(await world.claim(1))
      assert.equal((await world.tick({ ends: [endCommandFor(lease)] })).signals.length, 1)
      assert.deepEqual((await world.tick({ ends: [endCommandFor(lease)] })).signals, [])
    }),
  )

  test(
    'a waiting step that is cancelled is signalled too; a running one when it has ended',
    inWorkflows(async (world) => {
      const { workflow, runs } = await world.beginWith(2)
      const [running, waiting] = ids(runs) as [number, number]
      const lease = only(await world.claim(1))
      const cancels = [running, waiting].map((runId) => ({ runId, projectId: world.project }))
      const ofStep = { kind: 'step', workflowId: workflow.runId, item: -1, state: 'cancelled' }
      assert.deepEqual((await world.tick({ cancels })).signals, [{ ...ofStep, step: 1 }])
      const ends = [endCommandFor(lease, { to: 'failed', cause: 'cancelled' })]
      assert.deepEqual((await world.tick({ ends })).signals, [{ ...ofStep, step: 0 }])
    }),
  )

  test(
    'runs outside workflows emit no signals',
    inWorkflows(async (world) => {
      await world.beginWith(1)
      await world.submit(...world.newRuns(5))
      const [ofWorkflow, ...others] = await world.claim(6)
      assert.ok(ofWorkflow)
      assert.deepEqual(
        (await world.tick({ ends: others.map((lease) => endCommandFor(lease)) })).signals,
        [],
      )
      assert.equal((await world.tick({ ends: [endCommandFor(ofWorkflow)] })).signals.length, 1)
    }),
  )

  test(
    'unprocessed ends make a workflow dirty after a while',
    inWorkflows(async (world) => {
      const { workflow } = await world.beginWith(1)
      const { runId, revision } = workflow
      const lease = only(await world.claim(1))
      world.clock.advance(100_000)
      assert.deepEqual(await world.dirty(), [])
      await world.end(lease)
      world.clock.advance(UNPROCESSED_MS - 1)
      assert.deepEqual(await world.dirty(), [])
      world.clock.advance(1)
      assert.deepEqual(await world.dirty(), [runId])
      const processed = [{ step: 0, item: -1 }]
      await world.advance(transitionFrom({ runId, revision }, { processed }))
      assert.deepEqual(await world.dirty(), [])
      const step = only(await world.steps(runId))
      assert.deepEqual([step.state, step.isUnprocessed], ['succeeded', false])
      assert.equal(step.finishedAt, world.clock.now() - UNPROCESSED_MS)
    }),
  )

  test(
    'a workflow with many ended steps is listed once among the dirty ones',
    inWorkflows(async (world) => {
      const many = await world.beginWith(5)
      for (const lease of await world.claim(5)) await world.end(lease)
      world.clock.advance(1)
      const single = await world.beginWith(1)
      await world.end(only(await world.claim(1)))
      world.clock.advance(UNPROCESSED_MS)
      const found = await world.store.dirtyWorkflows({ limit: 2, olderThanMs: UNPROCESSED_MS })
      assert.deepEqual(
        found.map(({ runId }) => runId).toSorted((a, b) => a - b),
        [many.workflow.runId, single.workflow.runId],
      )
      await world.advance(
        ...found.map((place) => transitionFrom(place, { end: SUCCEEDED_OUTCOME })),
      )
      assert.deepEqual(await world.dirty(), [])
    }),
  )

  test(
    'runs that outlive their workflow emit no signals, and do not hide dirty workflows',
    inWorkflows(async (world) => {
      const leases = []
      for (let nth = 0; nth < 3; nth += 1) {
        const { workflow } = await world.beginWith(1)
        leases.push(only(await world.claim(1)))
        await world.advance(transitionFrom(workflow, { end: SUCCEEDED_OUTCOME }))
      }
      for (const lease of leases) await world.end(lease)
      const { workflow } = await world.beginWith(1)
      await world.end(only(await world.claim(1)))
      world.clock.advance(UNPROCESSED_MS)
      const found = await world.store.dirtyWorkflows({ limit: 1, olderThanMs: UNPROCESSED_MS })
      assert.deepEqual(
        found.map(({ runId }) => runId),
        [workflow.runId],
      )
      await world.advance(transitionFrom(workflow, { end: SUCCEEDED_OUTCOME }))
      assert.deepEqual(await world.dirty(), [])
    }),
  )

  test(
    'an end stays unprocessed until a transition processes exactly that end',
    inWorkflows(async (world) => {
      const { workflow } = await world.beginWith(2)
      const leases = await world.claim(2)
      await world.tick({ ends: leases.map((lease) => endCommandFor(lease)) })
      await world.advance(
        transitionFrom(workflow, {
          processed: [{ step: 0, item: -1 }],
          marks: [stepMark(5, 'skipped')],
        }),
      )
      const signals = (await world.steps(workflow.runId)).filter(
        ({ isUnprocessed }) => isUnprocessed,
      )
      assert.deepEqual(
        signals.map(({ step }) => step),
        [1],
      )
    }),
  )

  test(
    'a workflow is dirty when its check time has come, or when its node did not advance it',
    inWorkflows(async (world) => {
      const { runId } = await world.begin()
      assert.deepEqual(await world.dirty(), [])
      world.clock.advance(10_000)
      assert.deepEqual(await world.dirty(), [runId])
      const checkAt = world.clock.now() + 500
      await world.advance(transitionFrom({ runId, revision: 0 }, { checkAt }))
      assert.deepEqual(await world.dirty(), [])
      world.clock.advance(500)
      assert.deepEqual(await world.dirty(), [runId])
      await world.advance(
        transitionFrom({ runId, revision: 1 }, { end: SUCCEEDED_OUTCOME, checkAt }),
      )
      assert.deepEqual(await world.dirty(), [])
    }),
  )

  test(
    'a cancel of a workflow is signalled at once, and transitions continue from there only',
    inWorkflows(async (world) => {
      const { workflow } = await world.beginWith(1)
      const { runId } = workflow
      const cancels = [{ runId, projectId: world.project }]
      const first = await world.tick({ cancels })
      assert.deepEqual(first.cancels, [{ kind: 'marked', node: world.node }])
      assert.deepEqual(first.signals, [{ kind: 'cancel', workflowId: runId }])
      assert.deepEqual(await world.dirty(), [runId])
      const again = await world.tick({ cancels })
      assert.deepEqual(again.cancels, [{ kind: 'marked', node: world.node }])
      assert.deepEqual(again.signals, [])

      const run = await world.find(runId)
      assert.deepEqual([run.state, run.cancelling], ['running', true])
      const marked = await world.workflow(runId)
      assert.deepEqual([marked.cancelling, marked.revision], [true, workflow.revision + 1])
      assert.deepEqual(
        (await world.advance(transitionFrom(workflow, { end: SUCCEEDED_OUTCOME }))).verdicts,
        ['behind'],
      )
      const end = { ...SUCCEEDED_OUTCOME, state: 'cancelled', cause: 'cancelled' } as const
      await world.end(only(await world.claim(1)))
      await world.advance(transitionFrom(marked, { end }))
      const step = only(await world.steps(runId))
      assert.deepEqual([step.state, step.isUnprocessed], ['succeeded', false])
      world.clock.advance(UNPROCESSED_MS)
      assert.deepEqual(await world.dirty(), [])
      assert.equal(await world.stateOf(runId), 'cancelled')
      assert.deepEqual(await world.cancel(runId), { kind: 'final', state: 'cancelled' })
    }),
  )

  test(
    'a workflow that has not begun is cancelled like any waiting run',
    inWorkflows(async (world) => {
      const run = world.newRun({ laneId: world.workflowLane })
      await world.submit(run)
      assert.deepEqual(await world.cancel(run.id), { kind: 'cancelled' })
      assert.deepEqual(await world.beginAll(), [])
    }),
  )

  test(
    'a workflow within a workflow is a step that is signalled when it ends',
    inWorkflows(async (world) => {
      const outer = await world.begin()
      const run = world.newRun({ laneId: world.workflowLane })
      await world.advance(transitionFrom(outer, { starts: [{ step: 4, item: 2, run }] }))
      const inner = only(await world.beginAll())
      const end = { ...SUCCEEDED_OUTCOME, state: 'failed' } as const
      const { signals } = await world.advance(transitionFrom(inner, { end }))
      const key = { workflowId: outer.runId, step: 4, item: 2 }
      assert.deepEqual(signals, [{ kind: 'step', ...key, state: 'failed' }])
      assert.equal(at(await world.steps(outer.runId), 0).state, 'failed')
    }),
  )
}
