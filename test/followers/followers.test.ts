import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WireFollowUp } from '../../src/core/job/job-views.ts'
import { type Store, StoreError } from '../../src/store/port.ts'
import { type WorkflowHarness, startWorkflowHarness } from '../workflows/workflow-harness.ts'
import { createSeeded } from '../sim/seeded.ts'
import type { VirtualClock } from '../support/virtual-clock.ts'

const RUNS = 25
/** A worker is declared dead after ten silent seconds: a test takes less than that. */
const TURNS = 60

async function submit({ client }: WorkflowHarness, count = 1): Promise<readonly { id: string }[]> {
  return client.submit(Array.from({ length: count }, () => ({ job: 'a' })))
}

/** `b` follows `a` and `c` follows `b`, with the run of `a` passed on. */
async function defineChain(world: WorkflowHarness): Promise<void> {
  const after = (job: string, run: string) => [{ after: job, input: { of: run } }]
  await world.define({ task: 'b', triggers: after('a', '${{ after.run }}') }, 'b')
  await world.define({ task: 'c', triggers: after('b', '${{ after.input.of }}') }, 'c')
}

async function followUps({ node }: WorkflowHarness, job: string): Promise<readonly WireFollowUp[]> {
  return (await node.admin.jobs.get('default', job)).follow_ups ?? []
}

/** Runs all available work for a number of turns. */
async function runToRest(worlds: readonly WorkflowHarness[], turns = TURNS): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    await worlds[0]?.clock.advance(100)
    for (const world of worlds) await world.workOnce()
  }
}

function assertOnceEach(
  worlds: readonly WorkflowHarness[],
  ids: readonly { readonly id: string }[],
) {
  const started = worlds.flatMap((world) => world.started).toSorted()
  const expected = ids.flatMap(({ id }) => ['a', `b {"of":"${id}"}`, `c {"of":"${id}"}`])
  assert.deepEqual(started, expected.toSorted())
}

test('a follower starts at once on the node that ended the run', async () => {
  const world = await startWorkflowHarness()
  await defineChain(world)
  await submit(world)
  const before = world.clock.now()
  for (let turn = 0; turn < 20 && world.started.length < 3; turn += 1) {
    await world.clock.advance(5)
    await world.workOnce()
  }
  assert.deepEqual(
    world.started.map((one) => one[0]),
    ['a', 'b', 'c'],
  )
  assert.ok(world.clock.now() - before < 200, 'no periodic check was needed')
  assert.deepEqual(world.errors, [])
  await world.node.stop()
})

for (const seed of [1, 2, 3, 4, 5]) {
  test(`with requests lost or late, each end is followed once, seed ${seed}`, async () => {
    const chance = createSeeded(seed)
    const wrap = (store: Store, clock: VirtualClock): Store => ({
      ...store,
      async settleFollowUps(input) {
        const fault = chance.weighted({ none: 3, slow: 2, before: 2, after: 2 })
        // Long enough for the other node to find the same end.
        if (fault === 'slow') await clock.sleep(1_200)
        if (fault === 'before') throw new StoreError('unavailable', 'not now')
        const result = await store.settleFollowUps(input)
        if (fault === 'after') throw new StoreError('unknown', 'who knows')
        return result
      },
    })
    const here = await startWorkflowHarness({ wrap })
    const there = await startWorkflowHarness({ wrap, beside: here })
    await defineChain(here)
    const ids: { readonly id: string }[] = []
    for (let wave = 0; wave < 5; wave += 1) {
      ids.push(...(await submit(here, RUNS / 5)))
      await runToRest([here, there], 8)
    }
    await runToRest([here, there], 40)
    assertOnceEach([here, there], ids)
    const errors = [...here.errors, ...there.errors]
    assert.ok(errors.length > 0 && errors.every((error) => error instanceof StoreError))
    await Promise.all([here.node.stop(), there.node.stop()])
  })
}

test('ends that a node did not process before it stopped are processed by another within a second', async () => {
  const wrap = (store: Store): Store => ({
    ...store,
    settleFollowUps: () => Promise.reject(new StoreError('unavailable', 'not here')),
  })
  const first = await startWorkflowHarness({ wrap })
  await defineChain(first)
  const ids = await submit(first, RUNS)
  await first.clock.advance(20)
  await first.workOnce()
  await first.clock.advance(20)
  await first.node.stop()
  const second = await startWorkflowHarness({ beside: first })
  await second.clock.advance(1_100)
  assert.equal((await followUps(second, 'b')).filter(({ run }) => run !== null).length, 10)
  await runToRest([second])
  assertOnceEach([first, second], ids)
  await second.node.stop()
})

test('a node with an older definition in its cache creates runs of the newer one', async () => {
  const here = await startWorkflowHarness()
  const there = await startWorkflowHarness({ beside: here })
  // It has found that `b` is not defined, and caches that for a while.
  await there.client.submit([{ job: 'b' }])
  await runToRest([there], 3)
  there.started.length = 0
  await here.define({ task: 'd', triggers: [{ after: 'a' }] }, 'b')
  await there.client.submit([{ job: 'a' }])
  await runToRest([there])
  assert.deepEqual(there.started, ['a', 'd'])
  await Promise.all([here.node.stop(), there.node.stop()])
})

test('a run that the store refuses is given up with a reason, and delays no other', async () => {
  let refused = 0
  const wrap = (store: Store): Store => ({
    ...store,
    async settleFollowUps(input) {
      const isBad = input.settled.some(({ sourceRunId, outcome }) => {
        refused ||= sourceRunId
        return sourceRunId === refused && 'run' in outcome
      })
      if (isBad) throw new StoreError('refused', 'not this one')
      return store.settleFollowUps(input)
    },
  })
  const world = await startWorkflowHarness({ wrap })
  await world.define({ task: 'b', triggers: [{ after: 'a' }] }, 'b')
  await submit(world, 5)
  await runToRest([world])
  assert.equal(world.started.filter((one) => one === 'b').length, 4)
  const reasons = (await followUps(world, 'b')).flatMap(({ reason }) => reason ?? [])
  assert.deepEqual(reasons, ['not this one'])
  await world.node.stop()
})

test('an end that the store refuses even with a reason is postponed and reported, and delays no other', async () => {
  let refused = 0
  const wrap = (store: Store): Store => ({
    ...store,
    async settleFollowUps(input) {
      refused ||= input.settled[0]?.sourceRunId ?? 0
      if (isRefusing && input.settled.some(({ sourceRunId }) => sourceRunId === refused)) {
        throw new StoreError('refused', 'not this one')
      }
      return store.settleFollowUps(input)
    },
  })
  let isRefusing = true
  const world = await startWorkflowHarness({ wrap })
  await world.define({ task: 'b', triggers: [{ after: 'a' }] }, 'b')
  await submit(world, 5)
  await runToRest([world], 30)
  const count = () => world.started.filter((one) => one === 'b').length
  assert.equal(count(), 4)
  await submit(world, 5)
  await runToRest([world], 15)
  assert.equal(count(), 9, 'those that come later go on as well')
  assert.ok(world.errors.length > 0 && world.errors.length < 5, 'it is not tried all the time')
  assert.ok(world.errors.every((error) => String(error).includes('not this one')))
  isRefusing = false
  await runToRest([world], 25)
  assert.equal(count(), 10)
  await world.node.stop()
})

test('an end whose follower was deleted, or no longer follows, records that', async () => {
  const wrap = (store: Store): Store => ({
    ...store,
    settleFollowUps: (input) =>
      isHeld
        ? Promise.reject(new StoreError('unavailable', 'not now'))
        : store.settleFollowUps(input),
  })
  let isHeld = true
  const world = await startWorkflowHarness({ wrap })
  for (const name of ['b', 'c']) {
    await world.define({ task: name, triggers: [{ after: 'a' }] }, name)
  }
  await submit(world)
  await world.clock.advance(20)
  await world.workOnce()
  await world.clock.advance(20)
  const by = { project: 'default', actor: null, request: null, address: null }
  await world.node.admin.jobs.remove(by, 'b', null)
  await world.define({ task: 'c' }, 'c')
  isHeld = false
  await runToRest([world])
  assert.deepEqual(world.started, ['a'])
  const [stopped] = await followUps(world, 'c')
  assert.equal(stopped?.reason, 'it does not run after a any more')
  await world.define({ task: 'b' }, 'b')
  const [deleted] = await followUps(world, 'b')
  assert.equal(deleted?.reason, 'it was deleted')
  await world.node.stop()
})
