import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVirtualClock, flushTasks } from '../../../test/support/virtual-clock.ts'
import { createWorkerTestWorld } from '../testing/world.ts'

async function setUp(options?: Parameters<typeof createWorkerTestWorld>[1]) {
  const clock = createVirtualClock()
  const world = createWorkerTestWorld(clock, options)
  await world.worker.start()
  await flushTasks()
  const heldAtLastBeat = () =>
    world.server
      .messages('heartbeat')
      .at(-1)
      ?.held.map(({ run }) => run)
  return { clock, ...world, heldAtLastBeat }
}

test('heartbeats are sent in time, whatever the exchanges do', async () => {
  const { clock, server } = await setUp()
  server.fail('exchange', ...Array.from({ length: 50 }, () => 'hang' as const))
  await clock.advance(60_000)
  const beats = server.received
    .filter(({ call }) => call === 'heartbeat')
    .map(({ atMono }) => atMono)
  assert.deepEqual(beats.slice(0, 4), [2_250, 5_250, 8_250, 11_250])
  assert.equal(server.messages('register').length, 1)
})

test('a heartbeat lists exactly the attempts that run or are not yet acknowledged', async () => {
  const { clock, server, calls, heldAtLastBeat } = await setUp()
  for (const run of ['run_a', 'run_b', 'run_c']) server.submit(run)
  await clock.advance(3_000)
  assert.deepEqual(heldAtLastBeat(), ['run_a', 'run_b', 'run_c'])
  calls.get('run_a')?.finish()
  await flushTasks()
  server.fail('exchange', 'hang')
  calls.get('run_b')?.finish()
  await clock.advance(3_000)
  assert.deepEqual(heldAtLastBeat(), ['run_b', 'run_c'])
  await clock.advance(10_000)
  assert.deepEqual(heldAtLastBeat(), ['run_c'])
})

test('an answer is confirmed only once its runs are listed', async () => {
  const { clock, server, calls } = await setUp()
  server.isSlow = true
  server.submit('run_a')
  await clock.advance(3_000)
  assert.deepEqual(server.messages('heartbeat').at(-1), { registration: 1, answered: 0, held: [] })
  server.release()
  await clock.advance(3_000)
  assert.equal(calls.size, 1)
  const beat = server.messages('heartbeat').at(-1)
  assert.equal(beat?.answered, 1)
  assert.deepEqual(
    beat?.held.map(({ run }) => run),
    ['run_a'],
  )
})

test('a slow heartbeat does not delay the next', async () => {
  const { clock, server, calls } = await setUp()
  server.submit('run_a')
  server.fail('heartbeat', 'hang')
  await clock.advance(30_000)
  assert.equal(calls.get('run_a')?.context.signal.aborted, false)
  assert.ok(server.messages('heartbeat').length >= 9)
})

test('a failed heartbeat is retried sooner', async () => {
  const { clock, server, errors } = await setUp()
  server.fail('heartbeat', 'lose request', 'store_unavailable')
  await clock.advance(2_250 + 1_000 + 1_000)
  assert.equal(errors.length, 2)
  assert.equal(server.received.at(-1)?.atMono, 4_250)
})

test('a lost attempt is stopped and never reported', async () => {
  const { clock, server, calls, why, worker } = await setUp()
  server.submit('run_a')
  await flushTasks()
  server.lose('run_a')
  await clock.advance(3_000)
  assert.equal(why('run_a'), 'lease_lost')
  assert.equal(worker.stats().free, 9, 'its slot is free only when the function has returned')
  calls.get('run_a')?.finish()
  await flushTasks()
  assert.equal(worker.stats().free, 10)
  assert.ok(server.messages('exchange').every(({ done }) => done.length === 0))
})

test('a loss of an earlier fence does not affect its successor', async () => {
  const { clock, server, calls } = await setUp()
  server.submit('run_a')
  await flushTasks()
  const heartbeat = server.heartbeat
  server.heartbeat = async (session, message) => {
    // While this heartbeat is in flight the run ends, fails over, and comes back to this worker.
    server.heartbeat = heartbeat
    const first = calls.get('run_a')
    calls.delete('run_a')
    first?.fail(new Error('once more'))
    await flushTasks()
    server.submit('run_a', { attempt: 2 })
    await flushTasks()
    return heartbeat(session, message)
  }
  await clock.advance(3_000)
  await flushTasks(100)
  assert.equal(calls.get('run_a')?.context.attempt, 2)
  assert.equal(calls.get('run_a')?.context.signal.aborted, false)
})

test('a cancelled attempt is asked to stop, and reported as cancelled when it does', async () => {
  const { clock, server, calls, why } = await setUp()
  server.submit('run_a')
  await flushTasks()
  server.cancel('run_a')
  await clock.advance(3_000)
  assert.equal(why('run_a'), 'cancelled')
  calls.get('run_a')?.fail(new Error('stopped'))
  await flushTasks()
  assert.equal(server.ended.get('run_a')?.[0]?.outcome, 'cancelled')
})

test('success wins over a cancel that comes too late', async () => {
  const { clock, server, calls } = await setUp()
  server.submit('run_a')
  await flushTasks()
  server.cancel('run_a')
  await clock.advance(3_000)
  calls.get('run_a')?.finish('done')
  await flushTasks()
  assert.equal(server.ended.get('run_a')?.[0]?.outcome, 'succeeded')
})
