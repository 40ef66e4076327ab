import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PunctualError } from '../../core/errors.ts'
import { createVirtualClock, flushTasks } from '../../../test/support/virtual-clock.ts'
import { createWorkerTestWorld } from '../testing/world.ts'

async function setUp(options?: Parameters<typeof createWorkerTestWorld>[1]) {
  const clock = createVirtualClock()
  const world = createWorkerTestWorld(clock, options)
  await world.worker.start()
  await flushTasks()
  const hellos = () => world.server.messages('register')
  return { clock, ...world, hellos }
}

test('a registration contains what the worker offers', async () => {
  const { hellos } = await setUp({
    labels: { gpu: 'yes' },
    queues: ['fast', 'default'],
    projects: ['shop'],
  })
  assert.deepEqual(hellos(), [
    {
      name: 'tester',
      projects: ['shop'],
      queues: ['fast', 'default'],
      labels: { gpu: 'yes' },
      executors: ['handler:job', 'handler:polite'],
      features: ['secrets'],
      slots: 10,
      protocol: [1, 2],
      registration: 1,
      held: [],
      forsaken: [],
    },
  ])
})

test('the worker retries until a server answers, each time with a first registration', async () => {
  const clock = createVirtualClock()
  const { server, worker, errors } = createWorkerTestWorld(clock)
  server.isCutOff = true
  const starting = worker.start()
  await clock.advance(20_000)
  assert.ok(errors.length > 5)
  server.isCutOff = false
  await clock.advance(3_000)
  await starting
  assert.equal(server.messages('register')[0]?.registration, 1)
})

for (const code of [
  'session_unknown',
  'session_superseded',
  'node_stopping',
  'node_cannot_renew',
  'exchange_out_of_order',
] as const) {
  test(`${code} on an exchange: the worker registers again under the same id with all it holds`, async () => {
    const { clock, server, calls, hellos } = await setUp()
    server.submit('run_a')
    server.submit('run_b')
    await flushTasks()
    server.fail('exchange', code)
    calls.get('run_a')?.finish('kept')
    await clock.advance(500)
    const hello = hellos().at(-1)
    assert.equal(hello?.session, 'ses_1')
    assert.equal(hello?.registration, 2)
    assert.deepEqual(
      hello?.held.map(({ run }) => run),
      ['run_a', 'run_b'],
    )
    assert.equal(calls.get('run_b')?.context.signal.aborted, false)
    assert.equal(server.ended.get('run_a')?.[0]?.result, '"kept"')
    const first = server.messages('exchange').find(({ registration }) => registration === 2)
    assert.equal(first?.number, 1)
    assert.equal(first?.answered, 0)
  })
}

test('a refused heartbeat ends the registration, too', async () => {
  const { clock, server, hellos } = await setUp()
  server.fail('heartbeat', 'node_cannot_renew')
  await clock.advance(2_500)
  assert.equal(hellos().length, 2)
})

test('attempts that the server calls lost are stopped and not reported', async () => {
  const { clock, server, calls, why } = await setUp()
  server.submit('run_a')
  server.submit('run_b')
  await flushTasks()
  server.lose('run_a')
  server.fail('heartbeat', 'session_unknown')
  await clock.advance(2_500)
  assert.equal(why('run_a'), 'lease_lost')
  assert.equal(why('run_b'), undefined)
  calls.get('run_a')?.finish()
  calls.get('run_b')?.finish()
  await flushTasks()
  const reported = server.messages('exchange').flatMap(({ done }) => done.map(({ run }) => run))
  assert.deepEqual(reported, ['run_b'])
})

test('attempts that started and were then called lost are listed once in the next registration', async () => {
  const { clock, server, calls, why, hellos } = await setUp()
  server.submit('run_a')
  await flushTasks()
  const fence = calls.get('run_a')?.context.fence
  server.lose('run_a')
  await clock.advance(3_000)
  assert.equal(why('run_a'), 'lease_lost')
  server.fail('heartbeat', 'session_unknown', 'session_unknown')
  await clock.advance(9_000)
  assert.deepEqual(
    hellos().map(({ forsaken }) => forsaken),
    [[], [{ run: 'run_a', fence }], []],
  )
})

test('every try to register again has its own number: an earlier one may have arrived', async () => {
  const { clock, server, hellos } = await setUp()
  server.fail('register', 'lose answer', 'hang', 'session_superseded')
  server.fail('heartbeat', 'session_unknown')
  await clock.advance(20_000)
  assert.deepEqual(
    hellos().map(({ registration }) => registration),
    [1, 2, 3, 4, 5],
  )
})

test('a server that accepts registrations and then refuses is asked with pauses', async () => {
  const { clock, server, hellos } = await setUp()
  server.fail('exchange', ...Array.from({ length: 500 }, () => 'session_unknown' as const))
  await clock.advance(60_000)
  assert.ok(hellos().length < 40, `${hellos().length} registrations in a minute`)
})

for (const jumpMs of [0, 3_600_000, -3_600_000]) {
  test(`a disconnected worker stops its handlers in time, with the wall clock off by ${jumpMs} ms`, async () => {
    const { clock, server, calls, why } = await setUp()
    server.submit('run_a')
    await clock.advance(2_250)
    const fence = calls.get('run_a')?.context.fence
    // The heartbeat at 2,250 was the last to be acknowledged: 2,250 + 10,000 × 0.95 − 1,000.
    server.isCutOff = true
    clock.jumpWall(jumpMs)
    await clock.advance(8_499)
    assert.equal(why('run_a'), undefined)
    await clock.advance(1)
    assert.equal(why('run_a'), 'lease_lost')
    calls.get('run_a')?.finish('too late')
    await clock.advance(30_000)
    server.isCutOff = false
    await clock.advance(5_000)
    const hello = server.messages('register').at(-1)
    assert.deepEqual(hello?.held, [])
    assert.deepEqual(hello?.forsaken, [{ run: 'run_a', fence }])
    assert.equal(calls.get('run_a')?.context.attempt, 2)
    assert.ok(server.messages('exchange').every(({ done }) => done.length === 0))
  })
}

test('after a freeze, attempts whose lease expired are not carried into the next session', async () => {
  const { clock, server, hellos, calls } = await setUp()
  server.submit('run_a')
  await flushTasks()
  const first = calls.get('run_a')
  server.heartbeat = async () => {
    clock.freeze(60_000)
    throw new PunctualError('session_unknown', 'long gone')
  }
  await clock.advance(2_250)
  assert.equal(first?.context.signal.aborted, true)
  assert.deepEqual(hellos()[1]?.held, [])
})

test('a lease that expires during a registration makes it void', async () => {
  const { clock, server, hellos } = await setUp()
  server.submit('run_a')
  await clock.advance(2_250)
  server.fail('heartbeat', 'lose request', 'lose request', 'session_unknown')
  const register = server.register
  server.register = async (hello, secret) => {
    const welcome = await register(hello, secret)
    await clock.sleep(4_900)
    return welcome
  }
  await clock.advance(20_000)
  const [, second, third] = hellos()
  assert.deepEqual(
    second?.held.map(({ run }) => run),
    ['run_a'],
  )
  assert.deepEqual(third?.held, [])
  assert.deepEqual(
    third?.forsaken.map(({ run }) => run),
    ['run_a'],
  )
  assert.ok(
    hellos()
      .slice(3)
      .every(({ forsaken }) => forsaken.length === 0),
  )
})

test('a report finished before the lease expired is still sent: its fence decides', async () => {
  const { clock, server, calls, hellos } = await setUp()
  server.submit('run_a')
  await clock.advance(1_000)
  server.isCutOff = true
  calls.get('run_a')?.finish('valuable')
  await clock.advance(20_000)
  server.isCutOff = false
  await clock.advance(5_000)
  assert.deepEqual(
    hellos()
      .at(-1)
      ?.held.map(({ run }) => run),
    ['run_a'],
  )
  assert.equal(server.ended.get('run_a')?.[0]?.result, '"valuable"')
})

test('a worker that the server refuses does not start, and reports why', async () => {
  const { server, worker } = createWorkerTestWorld(createVirtualClock())
  server.fail('register', 'unauthorized')
  await assert.rejects(worker.start(), (error: PunctualError) => error.code === 'unauthorized')
  assert.equal(await worker.stopped, 'refused')
})

test('a lease shorter than the heartbeat interval is not accepted', async () => {
  const clock = createVirtualClock()
  const { server, worker, errors } = createWorkerTestWorld(clock)
  const register = server.register
  server.register = async (hello, secret) => ({
    ...(await register(hello, secret)),
    leaseTtlMs: 1_000,
  })
  void worker.start()
  await clock.advance(1_000)
  assert.match(String(errors[0]), /too short to keep/)
  assert.equal(worker.stats().exchanges, 0)
})

for (const [what, codes] of [
  ['unknown', ['session_unknown']],
  ['superseded over and over', Array.from({ length: 5 }, () => 'session_superseded' as const)],
] as const) {
  test(`a session that is ${what} is given up: its attempts stop, and a new one begins`, async () => {
    const { clock, server, calls, hellos } = await setUp()
    server.submit('run_a')
    await flushTasks()
    assert.ok(calls.has('run_a'))
    server.fail('register', ...codes)
    server.fail('exchange', 'session_unknown')
    server.submit('run_b')
    await clock.advance(30_000)
    const tries = hellos().slice(1)
    const back = tries.slice(0, codes.length)
    assert.ok(back.every(({ session }) => session === 'ses_1'))
    const anew = tries[codes.length]
    assert.deepEqual([anew?.session, anew?.registration, anew?.held], [undefined, 1, []])
  })
}

test('the secret from the first answer is sent with every later request', async () => {
  const { clock, server, calls, errors, hellos } = await setUp()
  server.fail('exchange', 'session_unknown')
  server.submit('run_a')
  await clock.advance(10_000)
  calls.get('run_a')?.finish('done')
  await flushTasks()
  // The server refuses requests without the secret.
  assert.deepEqual([hellos().length, server.ended.get('run_a')?.length, errors.length], [2, 1, 1])
})
