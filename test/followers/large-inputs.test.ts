import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { keyFor } from '../../src/blobs/key.ts'
import type { Blobs } from '../../src/blobs/port.ts'
import { LIMITS } from '../../src/core/limits.ts'
import type { Store } from '../../src/store/port.ts'
import { startWorkflowHarness } from '../workflows/workflow-harness.ts'
import { failingBlobs } from '../workflows/failing-blobs.ts'

const FOLLOWERS = 20
/** As large as a result may be in JSON, and an input too. */
const LARGEST = 'x'.repeat(LIMITS.resultBytes - 2)

/** Measures the bytes read and written for followers between two settlements. */
function weighed(t: TestContext) {
  const rows = failingBlobs(t)
  const held = { read: 0, written: 0 }
  const most = { ...held }
  const settled: number[] = []
  const weigh = (kind: keyof typeof held, { length }: Uint8Array) => {
    held[kind] += length
    most[kind] = Math.max(most[kind], held[kind])
  }
  const blobs: Blobs = {
    ...rows,
    async put(name, bytes) {
      if (!name.label.includes('-input-')) return rows.put(name, bytes)
      weigh('written', bytes)
      // Nothing reads it.
      return keyFor(name, bytes)
    },
    async get(key) {
      const bytes = await rows.get(key)
      weigh('read', bytes)
      return bytes
    },
  }
  const wrap = (store: Store): Store => ({
    ...store,
    async settleFollowUps(input) {
      const result = await store.settleFollowUps(input)
      settled.push(input.settled.length)
      Object.assign(held, { read: 0, written: 0 })
      return result
    },
  })
  return { blobs, wrap, most, settled }
}

async function follow(t: TestContext, result: unknown) {
  const { blobs, wrap, most, settled } = weighed(t)
  const world = await startWorkflowHarness({ blobs, wrap })
  t.after(() => world.node.stop())
  const triggers = [{ after: 'a', input: '${{ after.output }}' }]
  for (let nth = 0; nth < FOLLOWERS; nth += 1) {
    await world.define({ task: 'nobody', triggers }, `follower-${nth}`)
  }
  world.behave = () => ({ result })
  await world.client.submit([{ job: 'a' }])
  for (let turn = 0; turn < 10; turn += 1) {
    await world.clock.advance(20)
    await world.workOnce()
  }
  assert.deepEqual(world.errors, [])
  assert.equal(
    settled.reduce((sum, count) => sum + count, 0),
    FOLLOWERS,
  )
  return { most, settled }
}

test('however many followers have a large input, only some inputs are held in memory at once', async (t) => {
  const { most, settled } = await follow(t, LARGEST)
  assert.ok(most.read <= LIMITS.outputBytes, `${most.read} bytes were read before any was settled`)
  assert.ok(most.written <= LIMITS.outputBytes, `${most.written} bytes were kept at once`)
  assert.deepEqual(settled, [8, 8, 4])
})

test('followers with small inputs are created together', async (t) => {
  assert.deepEqual((await follow(t, 'small')).settled, [FOLLOWERS])
})
