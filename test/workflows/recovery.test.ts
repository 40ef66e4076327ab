import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JobDefinition } from '../../src/core/job/job-definition.ts'
import { type Store, StoreError } from '../../src/store/port.ts'
import { createSeeded } from '../sim/seeded.ts'
import { startFlows } from './workflow-harness.ts'

const FLOW: JobDefinition = {
  steps: {
    list: { task: 'list' },
    load: {
      ...{ task: 'load', needs: 'list', each: '${{ steps.list.output }}', max_parallel: 3 },
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

/** A store under which flows stop going on as soon as somebody says so. */
function stickable() {
  let isStuck = false
  const wrap = (store: Store): Store => ({
    ...store,
    async advanceFlows(batch) {
      if (isStuck) throw new StoreError('unavailable', 'not here')
      return store.advanceFlows(batch)
    },
  })
  return { wrap, stick: () => void (isStuck = true) }
}

const inOrder = (started: readonly string[]) => started.toSorted()

test('a flow goes on wherever its steps end, and each step starts once', async () => {
  const config = { laneRefreshMs: 20 }
  const here = await startFlows({ config })
  const there = await startFlows({ config, beside: here })
  here.behave = behave
  there.behave = behave
  await here.define(FLOW)
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

test('who comes after a node that is gone goes on where it stopped', async () => {
  const first = await startFlows()
  first.behave = behave
  await first.define(FLOW)
  const id = await first.submit()
  await first.workOnce()
  await first.clock.advance(20)
  await first.node.stop()
  const second = await startFlows({ beside: first })
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
      ...{ task: 'c', needs: ['a', 'b'], when: 'any-succeeded', max_parallel: 1 },
      each: ['${{ steps.a.output }}', '${{ steps.b.state }}', '${{ default(steps.b.output, 0) }}'],
      with: '${{ item }}',
    },
  },
}

test('a list that was made before all it speaks of was over stays as it was made', async () => {
  const { wrap, stick } = stickable()
  const first = await startFlows({ wrap })
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

  const second = await startFlows({ beside: first })
  second.behave = ({ input }) => (input === '0' ? 'failed' : { result: null })
  assert.equal((await second.finish(id)).state, 'failed')
  assert.deepEqual(second.started, ['c "running"', 'c 0'])

  // What goes on with it later knows even less of that moment, and goes on with the same items.
  second.started.length = 0
  second.behave = () => ({ result: null })
  const { id: again } = await second.client.retry(id, undefined, { only: 'failed' })
  assert.equal((await second.finish(again)).state, 'succeeded')
  assert.deepEqual(second.started, ['c 0'])
  await second.node.stop()
})

test('a clock that is set back keeps nobody from going on where another node stopped', async () => {
  const config = { nodeBeatMs: 500 }
  const { wrap, stick } = stickable()
  const first = await startFlows({ config, wrap })
  const second = await startFlows({ config, beside: first })
  first.behave = behave
  second.behave = behave
  await first.define(FLOW)
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
  test(`what nobody knows whether it was written is looked up, seed ${seed}`, async () => {
    const chance = createSeeded(seed)
    const wrap = (store: Store): Store => ({
      ...store,
      async advanceFlows(batch) {
        const fault = chance.weighted({ none: 4, before: 2, after: 2 })
        if (fault === 'before') throw new StoreError('unavailable', 'not now')
        const result = await store.advanceFlows(batch)
        if (fault === 'after') throw new StoreError('unknown', 'who knows')
        return result
      },
    })
    const flows = await startFlows({ wrap })
    flows.behave = behave
    await flows.define(FLOW)
    const id = await flows.submit()
    assert.equal((await flows.finish(id)).state, 'succeeded')
    assert.deepEqual(inOrder(flows.started), inOrder(ALL))
    assert.ok(flows.errors.every((error) => error instanceof StoreError))
    await flows.node.stop()
  })
}

test('a flow whose version cannot be read any more has failed, and says so', async () => {
  const broken = '{"steps":{"a":{"task":"a","needs":"nobody"}}}'
  const wrap = (store: Store): Store => ({ ...store, definitionsOf: async () => [broken] })
  const flows = await startFlows({ wrap })
  await flows.define(FLOW)
  const id = await flows.submit()
  const { state, cause, message } = await flows.finish(id)
  assert.deepEqual([state, cause], ['failed', 'start_error'])
  assert.match(message ?? '', /^version 1 of flow cannot be read: .*nobody/)
  const shown = await flows.client.getRun(id)
  assert.deepEqual([shown.state, shown.workflow], ['failed', null])
  await flows.node.stop()
})

test('a flow that the store refuses does not hold up the others', async () => {
  let refusedId = 0
  const wrap = (store: Store): Store => ({
    ...store,
    async advanceFlows(batch) {
      const isThere = batch.moves.some(({ runId }) => runId === refusedId)
      if (isThere) throw new StoreError('refused', 'not this one')
      return store.advanceFlows(batch)
    },
    async beginFlows(input) {
      const begun = await store.beginFlows(input)
      refusedId ||= begun[0]?.runId ?? 0
      return begun
    },
  })
  const flows = await startFlows({ wrap })
  await flows.define({ concurrency: 'none', steps: { a: { task: 'a' }, b: { task: 'b' } } })
  const ids = [await flows.submit(), await flows.submit(), await flows.submit()]
  for (const id of ids.slice(1)) assert.equal((await flows.finish(id)).state, 'succeeded')
  assert.equal((await flows.view(ids[0] as string)).state, 'running')
  assert.equal(flows.errors.length, 1)
  await flows.node.stop()
})
