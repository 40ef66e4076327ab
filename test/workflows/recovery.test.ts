import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JobDefinition } from '../../src/core/job/job-definition.ts'
import { type Store, StoreError } from '../../src/store/port.ts'
import { createSeeded } from '../sim/seeded.ts'
import { startWorkflowHarness } from './workflow-harness.ts'

const WORKFLOW: JobDefinition = {
  steps: {
    list: { task: 'list' },
    load: {
      task: 'load',
      needs: 'list',
      each: '${{ steps.list.output }}',
      max_parallel: 3,
      with: '${{ item }}',
    },
    c: { task: 'c', needs: 'load', with: '${{ steps.load.output }}' },
    d: { task: 'd', needs: 'list', if: '${{ false }}' },
    e: { task: 'e', needs: ['c', 'd'] },
    clean: { task: 'clean', finally: true },
  },
}
const ALL = [
  'clean',
  'c [0,1,2,3,4,5,6]',
  'e',
  'list',
  ...[0, 1, 2, 3, 4, 5, 6].map((i) => `load ${i}`),
]

const behave = ({ task, input }: { task: string | null; input: string | null }) => ({
  result: task === 'list' ? [0, 1, 2, 3, 4, 5, 6] : task === 'load' ? Number(input) : null,
})

/** A store that stops advancing workflows on request. */
function stickable() {
  let isStuck = false
  const wrap = (store: Store): Store => ({
    ...store,
    async advanceWorkflows(batch) {
      if (isStuck) throw new StoreError('unavailable', 'not here')
      return store.advanceWorkflows(batch)
    },
  })
  return { wrap, stick: () => void (isStuck = true) }
}

const inOrder = (started: readonly string[]) => started.toSorted()

test('a workflow continues wherever its steps end, and each step starts once', async () => {
  const config = { laneRefreshMs: 20 }
  const here = await startWorkflowHarness({ config })
  const there = await startWorkflowHarness({ config, beside: here })
  here.behave = behave
  there.behave = behave
  await here.define(WORKFLOW)
  const id = await here.submit()
  for (let turn = 0; turn < 30; turn += 1) {
    await here.clock.advance(100)
    await (turn % 2 === 0 ? there : here).workOnce()
  }
  assert.equal((await here.finish(id)).state, 'succeeded')
  assert.deepEqual(inOrder([...here.started, ...there.started]), inOrder(ALL))
  assert.ok(here.started.length > 0 && there.started.length > 0)
  assert.deepEqual([...here.errors, ...there.errors], [])
  await Promise.all([here.node.stop(), there.node.stop()])
})

test('after a node dies, another one continues the workflow where it stopped', async () => {
  const first = await startWorkflowHarness()
  first.behave = behave
  await first.define(WORKFLOW)
  const id = await first.submit()
  await first.workOnce()
  await first.clock.advance(20)
  await first.node.stop()
  const second = await startWorkflowHarness({ beside: first })
  second.behave = behave
  assert.equal((await second.finish(id)).state, 'succeeded')
  assert.deepEqual(inOrder([...first.started, ...second.started]), inOrder(ALL))
  await second.node.stop()
})

const EARLY: JobDefinition = {
  steps: {
    a: { task: 'a' },
    b: { task: 'b' },
    early: {
      task: 'c',
      needs: ['a', 'b'],
      when: 'any-succeeded',
      max_parallel: 1,
      each: ['${{ steps.a.output }}', '${{ steps.b.state }}', '${{ default(steps.b.output, 0) }}'],
      with: '${{ item }}',
    },
  },
}

test('a list computed before all its inputs were final stays as it was', async () => {
  const { wrap, stick } = stickable()
  const first = await startWorkflowHarness({ wrap })
  first.behave = ({ job }) => (job === 'flow/a' ? { result: 'A' } : 'hold')
  await first.define(EARLY)
  const id = await first.submit()
  await first.work()
  assert.deepEqual(first.started, ['a', 'b', 'c "A"'])
  await first.finishHeld('b', 'B')
  await first.clock.advance(20)
  stick()
  await first.finishHeld('c', null)
  await first.node.stop()

  const second = await startWorkflowHarness({ beside: first })
  second.behave = ({ input }) => (input === '0' ? 'failed' : { result: null })
  assert.equal((await second.finish(id)).state, 'failed')
  assert.deepEqual(second.started, ['c "running"', 'c 0'])

  // A later node knows even less about that moment and continues with the same items.
  second.started.length = 0
  second.behave = () => ({ result: null })
  const { id: again } = await second.client.retry(id, undefined, { only: 'failed' })
  assert.equal((await second.finish(again)).state, 'succeeded')
  assert.deepEqual(second.started, ['c 0'])
  await second.node.stop()
})

test('a clock that is set back does not keep a node from continuing where another one stopped', async () => {
  const config = { nodeHeartbeatMs: 500 }
  const { wrap, stick } = stickable()
  const first = await startWorkflowHarness({ config, wrap })
  const second = await startWorkflowHarness({ config, beside: first })
  first.behave = behave
  second.behave = behave
  await first.define(WORKFLOW)
  await first.clock.advance(1_000)
  first.clock.jumpWall(-3_600_000)
  await first.clock.advance(1_000)
  const id = await first.submit()
  await first.clock.advance(20)
  stick()
  await first.workOnce()
  await first.node.stop()
  assert.equal((await second.finish(id)).state, 'succeeded')
  assert.deepEqual(inOrder([...first.started, ...second.started]), inOrder(ALL))
  await second.node.stop()
})

for (const seed of [1, 2, 3, 4, 5]) {
  test(`a transition with an unknown outcome is looked up in the store, seed ${seed}`, async () => {
    const chance = createSeeded(seed)
    const wrap = (store: Store): Store => ({
      ...store,
      async advanceWorkflows(batch) {
        const fault = chance.weighted({ none: 4, before: 2, after: 2 })
        if (fault === 'before') throw new StoreError('unavailable', 'not now')
        const result = await store.advanceWorkflows(batch)
        if (fault === 'after') throw new StoreError('unknown', 'who knows')
        return result
      },
    })
    const workflows = await startWorkflowHarness({ wrap })
    workflows.behave = behave
    await workflows.define(WORKFLOW)
    const id = await workflows.submit()
    assert.equal((await workflows.finish(id)).state, 'succeeded')
    assert.deepEqual(inOrder(workflows.started), inOrder(ALL))
    assert.ok(workflows.errors.every((error) => error instanceof StoreError))
    await workflows.node.stop()
  })
}

test('a workflow whose version can no longer be read has failed with that reason', async () => {
  const broken = '{"steps":{"a":{"task":"a","needs":"nobody"}}}'
  const wrap = (store: Store): Store => ({ ...store, definitionsOf: async () => [broken] })
  const workflows = await startWorkflowHarness({ wrap })
  await workflows.define(WORKFLOW)
  const id = await workflows.submit()
  const { state, cause, message } = await workflows.finish(id)
  assert.deepEqual([state, cause], ['failed', 'start_error'])
  assert.match(message ?? '', /^version 1 of flow cannot be read: .*nobody/)
  const shown = await workflows.client.getRun(id)
  assert.deepEqual([shown.state, shown.workflow], ['failed', null])
  await workflows.node.stop()
})

test('a workflow that the store refuses does not delay the others', async () => {
  let refusedId = 0
  const wrap = (store: Store): Store => ({
    ...store,
    async advanceWorkflows(batch) {
      const isThere = batch.transitions.some(({ runId }) => runId === refusedId)
      if (isThere) throw new StoreError('refused', 'not this one')
      return store.advanceWorkflows(batch)
    },
    async beginWorkflows(input) {
      const begun = await store.beginWorkflows(input)
      refusedId ||= begun[0]?.runId ?? 0
      return begun
    },
  })
  const workflows = await startWorkflowHarness({ wrap })
  await workflows.define({ concurrency: 'none', steps: { a: { task: 'a' }, b: { task: 'b' } } })
  const ids = [await workflows.submit(), await workflows.submit(), await workflows.submit()]
  for (const id of ids.slice(1)) assert.equal((await workflows.finish(id)).state, 'succeeded')
  assert.equal((await workflows.view(ids[0] as string)).state, 'running')
  assert.equal(workflows.errors.length, 1)
  await workflows.node.stop()
})
