import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVirtualClock, flushTasks } from '../../test/support/virtual-clock.ts'
import { createWorkerTestWorld } from './testing/world.ts'

async function setUp(options?: Parameters<typeof createWorkerTestWorld>[1]) {
  const clock = createVirtualClock()
  const world = createWorkerTestWorld(clock, options)
  await world.worker.start()
  await flushTasks()
  const outcome = (run: string) => world.server.ended.get(run)?.[0]?.outcome
  return { clock, ...world, outcome }
}

test('an idle worker drains at once and unregisters', async () => {
  const { clock, server, worker } = await setUp()
  await worker.drain(30_000)
  assert.equal(await worker.stopped, 'drained')
  assert.deepEqual(server.messages('leave'), [{ session: 'ses_1', registration: 1 }])
  assert.equal(clock.mono(), 0)
  await flushTasks()
  assert.equal(clock.sleeping(), 0)
})

test('handlers may finish within the grace, and no more runs are accepted', async () => {
  const { clock, server, calls, worker, outcome } = await setUp()
  server.submit('run_a')
  await flushTasks()
  const draining = worker.drain(30_000)
  await flushTasks()
  server.submit('run_b')
  await clock.advance(20_000)
  assert.equal(server.messages('exchange').at(-1)?.free, 0)
  assert.equal(calls.has('run_b'), false)
  calls.get('run_a')?.finish()
  await draining
  assert.equal(outcome('run_a'), 'succeeded')
  assert.equal(clock.mono(), 20_000)
})

test('runs that were in flight are given back, not started', async () => {
  const { server, calls, worker, outcome } = await setUp()
  server.submit('run_a')
  await flushTasks()
  server.isSlow = true
  server.submit('run_b')
  await flushTasks()
  const draining = worker.drain(30_000)
  await flushTasks()
  server.release()
  await flushTasks()
  assert.equal(calls.has('run_b'), false)
  assert.equal(outcome('run_b'), 'given_back')
  calls.get('run_a')?.finish()
  await draining
})

test('after the grace, handlers are stopped and their runs given back', async () => {
  const { clock, server, worker, outcome } = await setUp()
  server.submit('run_a', { job: 'polite' })
  await flushTasks()
  const draining = worker.drain(5_000)
  await clock.advance(5_000)
  await draining
  assert.equal(outcome('run_a'), 'given_back')
  assert.equal(await worker.stopped, 'drained')
})

test('the run of a handler that ignores the end of the grace is given back, too', async () => {
  const { clock, server, worker, outcome, why } = await setUp()
  server.submit('run_a')
  await flushTasks()
  const draining = worker.drain(5_000)
  await clock.advance(5_000)
  assert.equal(why('run_a'), 'draining')
  await clock.advance(10_000)
  await draining
  assert.equal(outcome('run_a'), 'given_back')
})

test('a second drain with a shorter grace shortens it', async () => {
  const { clock, server, worker, outcome } = await setUp()
  server.submit('run_a', { job: 'polite' })
  await flushTasks()
  void worker.drain(3_600_000)
  await clock.advance(1_000)
  const draining = worker.drain(0)
  await clock.advance(0)
  await draining
  assert.equal(outcome('run_a'), 'given_back')
})

test('heartbeats continue while the worker drains', async () => {
  const { clock, server, worker, why } = await setUp()
  server.submit('run_a')
  await flushTasks()
  void worker.drain(60_000)
  await clock.advance(50_000)
  assert.equal(why('run_a'), undefined)
  assert.ok(server.messages('heartbeat').length > 15)
})

test('a drain ends even when the server is gone', async () => {
  const { clock, server, worker } = await setUp()
  server.submit('run_a', { job: 'polite' })
  await flushTasks()
  server.isCutOff = true
  const draining = worker.drain(5_000)
  await clock.advance(60_000)
  await draining
  assert.equal(clock.sleeping(), 0)
})

test('an unregister request without an answer is not waited for forever', async () => {
  const { clock, server, worker } = await setUp()
  server.fail('leave', 'hang')
  const draining = worker.drain(0)
  await clock.advance(5_000)
  await draining
})

test('a worker that lost its lease does not unregister: started attempts must not count as given back', async () => {
  const { clock, server, worker } = await setUp()
  server.submit('run_a')
  await clock.advance(2_250)
  server.isCutOff = true
  await clock.advance(8_500)
  server.isCutOff = false
  await worker.drain(0)
  assert.deepEqual(server.messages('leave'), [])
})

test('aborting the signal stops the worker and gives back its attempts', async () => {
  const stop = new AbortController()
  const { clock, server, worker, outcome } = await setUp({ signal: stop.signal })
  server.submit('run_a', { job: 'polite' })
  await flushTasks()
  stop.abort()
  await clock.advance(0)
  assert.equal(await worker.stopped, 'drained')
  assert.equal(outcome('run_a'), 'given_back')
})

test('a worker whose signal is aborted beforehand never registers', async () => {
  const { server, worker } = createWorkerTestWorld(createVirtualClock(), {
    signal: AbortSignal.abort(),
  })
  await worker.start()
  assert.equal(await worker.stopped, 'drained')
  assert.deepEqual(server.received, [])
})

test('a worker that never started can be drained', async () => {
  const { server, worker } = createWorkerTestWorld(createVirtualClock())
  await worker.drain(1_000)
  await worker.start()
  assert.deepEqual(server.received, [])
})

test('a handler that ignores its timeout stops the worker, so that it can be restarted', async () => {
  const { clock, server, worker, errors, outcome, why } = await setUp()
  server.submit('run_stuck', { timeoutMs: 5_000 })
  server.submit('run_fine')
  await clock.advance(14_999)
  assert.equal(server.ended.size, 0)
  await clock.advance(1)
  await flushTasks()
  assert.equal(server.ended.get('run_stuck')?.[0]?.cause, 'timeout')
  assert.match(String(errors.at(-1)), /handler of job ignored its signal/)
  assert.equal(why('run_fine'), undefined, 'the others may finish')
  server.submit('run_next')
  await clock.advance(10_000)
  assert.equal(why('run_fine'), 'draining')
  await clock.advance(10_000)
  assert.equal(await worker.stopped, 'handler_unresponsive')
  assert.equal(outcome('run_fine'), 'given_back')
  assert.equal(server.ended.has('run_next'), false)
})

test('a lost attempt whose handler does not stop ends the worker as well', async () => {
  const { clock, server, worker } = await setUp()
  server.submit('run_a')
  await flushTasks()
  server.lose('run_a')
  await clock.advance(20_000)
  assert.equal(await worker.stopped, 'handler_unresponsive')
  assert.equal(server.ended.size, 0)
})

test('callbacks that throw or reject do not affect the worker', async () => {
  const { clock, server, worker, calls } = await setUp({
    onError: () => Promise.reject(new Error('in onError')),
    log() {
      throw new Error('in log')
    },
  })
  server.fail('exchange', 'lose answer', 'session_unknown')
  server.fail('heartbeat', 'lose answer')
  server.submit('run_a')
  await clock.advance(5_000)
  calls.get('run_a')?.finish()
  await clock.advance(5_000)
  assert.equal(server.ended.get('run_a')?.length, 1)
  await worker.drain(0)
})

test('a malformed answer ends the registration, not the worker', async () => {
  const { clock, server, worker, errors } = await setUp()
  const exchange = server.exchange
  server.exchange = async (_session, { number }) => ({ number }) as never
  server.fail('heartbeat', 'session_unknown')
  await clock.advance(10_000)
  assert.ok(errors.length > 1)
  server.exchange = exchange
  server.submit('run_a', { job: 'polite' })
  await clock.advance(10_000)
  assert.equal(worker.stats().running, 1)
})
