// Every start is counted, also when its worker reconnects at that moment.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { STATE_CODE } from '../../src/core/run/run-state.ts'
import { DEFAULT_CONFIG } from '../../src/server/cluster/config.ts'
import type { Store } from '../../src/store/port.ts'
import { type InMemoryScheduler, startInMemory } from './scheduler-in-memory.ts'
import { registerManualWorker } from './manual-worker.ts'

/** A gate that blocks callers from when it is closed until it is opened. */
function createGate() {
  let wait: PromiseWithResolvers<void> | undefined
  return {
    close: () => void (wait = Promise.withResolvers()),
    open: () => wait?.resolve(),
    passed: async () => wait?.promise,
  }
}

/** No end is stored while the gate is closed. */
const endingsBehind =
  (gate: ReturnType<typeof createGate>) =>
  (store: Store): Store => ({
    ...store,
    async tick(batch) {
      if (batch.ends.length > 0) await gate.passed()
      return store.tick(batch)
    },
  })

/** A worker with one running attempt. */
async function atWork({ node }: InMemoryScheduler) {
  const client = node.clientFor('default')
  await client.submit([{ job: 'job' }])
  const worker = await registerManualWorker(client)
  const [run] = await worker.take()
  assert.ok(run)
  return { worker, run, back: { session: worker.session, registration: 2 } }
}

const countOf = ({ engine }: InMemoryScheduler) =>
  engine.raw.prepare('SELECT status, attempt, lost FROM run').get()
const LOST_ONCE = { status: STATE_CODE.ready, attempt: 2, lost: 1 }

test('a worker that gave up an attempt is registered only once the attempt is counted', async () => {
  const gate = createGate()
  const world = await startInMemory({ wrap: endingsBehind(gate) })
  const { run, back } = await atWork(world)
  gate.close()
  let isWelcome = false
  // After the welcome, the worker no longer reports the attempt: the server must have counted it by then.
  const welcome = registerManualWorker(world.node.clientFor('default'), {
    ...back,
    forsaken: [run],
  })
  void welcome.then(() => (isWelcome = true))
  await world.clock.advance(1_000)
  assert.equal(isWelcome, false)
  gate.open()
  await world.clock.advance(10)
  await welcome
  assert.deepEqual(countOf(world), LOST_ONCE)
})

test('a worker keeps the attempts it brings along while its node checks its leases', async () => {
  const first = await startInMemory()
  const adopting = createGate()
  const looking = createGate()
  const second = await startInMemory({
    beside: first,
    wrap: (store) => ({
      ...store,
      async adopt(input) {
        await adopting.passed()
        return store.adopt(input)
      },
      async ownLeases(input) {
        const leases = await store.ownLeases(input)
        await looking.passed()
        return leases
      },
    }),
  })
  const { run, back } = await atWork(first)
  adopting.close()
  looking.close()
  const returning = registerManualWorker(second.node.clientFor('default'), { ...back, held: [run] })
  // The node checks while the store does not yet have the lease under its name.
  await first.clock.advance(DEFAULT_CONFIG.leaseTtlMs / 2)
  adopting.open()
  const worker = await returning
  looking.open()
  await first.clock.advance(10)
  assert.deepEqual((await worker.heartbeat(0, [run])).lost, [])
})

test('a worker keeps the attempts it brings along while its new node declares the old one dead', async () => {
  const first = await startInMemory()
  const gate = createGate()
  const config = { steadyMs: 0 }
  const second = await startInMemory({ beside: first, config, wrap: endingsBehind(gate) })
  const { run, back } = await atWork(first)
  gate.close()
  await first.node.stop()
  // The attempt is an orphan; its loss is on the way to the store.
  await first.clock.advance(DEFAULT_CONFIG.nodeTtlMs / 6)
  const worker = await registerManualWorker(second.node.clientFor('default'), {
    ...back,
    held: [run],
  })
  gate.open()
  await first.clock.advance(10)
  assert.deepEqual((await worker.heartbeat(0, [run])).lost, [])
})

test('an attempt that was lost is counted in the metrics, however the server noticed', async (t) => {
  const lostAfter = async (lose: (world: InMemoryScheduler) => Promise<unknown>) => {
    const world = await startInMemory()
    const count = async () => {
      const { text: page } = await world.node.metrics.page()
      return Number(/^punctual_leases_lost_total (\d+)$/m.exec(page)?.[1])
    }
    assert.equal(await count(), 0)
    await lose(world)
    await world.clock.advance(10)
    assert.deepEqual(countOf(world), LOST_ONCE)
    return count()
  }

  await t.test('its worker fell silent', async () => {
    const silence = DEFAULT_CONFIG.leaseTtlMs + DEFAULT_CONFIG.reapMarginMs + 2_000
    const lost = await lostAfter(async (world) => {
      await atWork(world)
      await world.clock.advance(silence)
    })
    assert.equal(lost, 1)
  })

  await t.test('its worker registered again without it', async () => {
    const lost = await lostAfter(async (world) => {
      const { run, back } = await atWork(world)
      await registerManualWorker(world.node.clientFor('default'), { ...back, forsaken: [run] })
    })
    assert.equal(lost, 1)
  })
})
