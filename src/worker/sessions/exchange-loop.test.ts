import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ErrorCode, PunctualError } from '../../core/errors.ts'
import { LIMITS } from '../../core/limits.ts'
import type { Exchange } from '../../core/wire/protocol.ts'
import { createVirtualClock, flushTasks } from '../../../test/support/virtual-clock.ts'
import { createWorkerTestWorld } from '../testing/world.ts'

async function setUp(options?: Parameters<typeof createWorkerTestWorld>[1]) {
  const clock = createVirtualClock()
  const world = createWorkerTestWorld(clock, options)
  await world.worker.start()
  await flushTasks()
  return { clock, ...world, exchanges: () => world.server.messages('exchange') }
}

const last = (messages: Exchange[]) => messages.at(-1) as Exchange

test('an idle worker asks for all its slots and lets the server wait', async () => {
  const { exchanges } = await setUp()
  assert.deepEqual(exchanges(), [
    { registration: 1, number: 1, answered: 0, done: [], free: 10, waitMs: 10_000 },
  ])
})

test('an assigned run is executed and reported, and the worker asks for more', async () => {
  const { server, calls, exchanges } = await setUp()
  server.submit('run_a', { input: '{"n":1}', attempt: 2 })
  await flushTasks()
  assert.deepEqual(calls.get('run_a')?.input, { n: 1 })
  assert.equal(last(exchanges()).free, 9)
  assert.equal(last(exchanges()).answered, last(exchanges()).number - 1)
  calls.get('run_a')?.finish({ ok: true })
  await flushTasks()
  const [done] = server.ended.get('run_a') ?? []
  assert.equal(done?.result, '{"ok":true}')
  assert.equal(last(exchanges()).free, 10)
  assert.equal(last(exchanges()).waitMs, 10_000)
})

test('a worker without free slots asks for nothing', async () => {
  const { clock, server, exchanges } = await setUp({ slots: 2 })
  for (const run of ['run_a', 'run_b', 'run_c']) server.submit(run)
  await flushTasks()
  const before = exchanges().length
  await clock.advance(60_000)
  assert.equal(exchanges().length, before)
})

test('slots are counted by weight', async () => {
  const { server, calls, exchanges } = await setUp({ slots: 4 })
  server.submit('run_a', { weight: 3 })
  await flushTasks()
  assert.equal(last(exchanges()).free, 1)
  calls.get('run_a')?.finish()
  await flushTasks()
  assert.equal(last(exchanges()).free, 4)
})

test('a message whose answer was lost is repeated byte for byte, and its runs start once', async () => {
  const { clock, server, calls } = await setUp()
  server.fail('exchange', 'lose answer', 'lose answer')
  await clock.advance(10_000)
  server.submit('run_a')
  await clock.advance(9_000)
  const texts = server.received.filter(({ call }) => call === 'exchange').map(({ text }) => text)
  assert.equal(texts[1], texts[2])
  assert.equal(texts[2], texts[3])
  assert.equal(calls.size, 1)
})

test('a report is repeated until the server rules on it, and counts once', async () => {
  const { clock, server, calls, exchanges } = await setUp()
  server.submit('run_a')
  await flushTasks()
  server.fail('exchange', 'lose answer', 'lose request', 'store_unavailable', 'hang')
  calls.get('run_a')?.finish()
  await clock.advance(20_000)
  const reports = exchanges().filter(({ done }) => done.length > 0)
  assert.equal(reports.length, 4)
  assert.equal(new Set(reports.map(({ number }) => number)).size, 1)
  assert.equal(server.ended.get('run_a')?.length, 1)
  assert.equal(last(exchanges()).done.length, 0)
})

/** Two attempts that end together, on a server that refuses the report of the second. */
async function refuseSecond(code: ErrorCode, field?: string) {
  const world = await setUp()
  const { clock, server, calls } = world
  const exchange = server.exchange
  let refusals = 0
  server.exchange = async (session, message, signal) => {
    if (!message.done.some(({ result }) => result === '"bad"')) {
      return exchange(session, message, signal)
    }
    refusals += 1
    throw new PunctualError(code, 'it is too much', field === undefined ? {} : { field })
  }
  server.submit('run_a')
  server.submit('run_b')
  await flushTasks()
  calls.get('run_a')?.finish('good')
  calls.get('run_b')?.finish('bad')
  await clock.advance(10_000)
  return { ...world, refusals: () => refusals }
}

test('a report that the server will never accept is not repeated: its attempt fails, the others are reported', async () => {
  const refused = await refuseSecond('invalid_field', 'done.1.result')
  const { server, errors, refusals, worker } = refused
  assert.deepEqual(
    server.ended.get('run_a')?.map(({ result }) => result),
    ['"good"'],
  )
  const [done, ...more] = server.ended.get('run_b') ?? []
  assert.deepEqual([done?.outcome, done?.cause, done?.retriable], ['failed', 'error', false])
  assert.equal(done?.message, 'the server refused its report: it is too much')
  assert.deepEqual([done?.result, more.length, refusals()], [undefined, 0, 1])
  assert.equal(errors.length, 1)
  assert.equal(worker.stats().unacknowledged, 0)
})

test('a report that alone is too large is not repeated either', async () => {
  const { clock, server, calls } = await setUp()
  server.submit('run_a')
  await flushTasks()
  server.fail('exchange', 'body_too_large')
  calls.get('run_a')?.finish('bad')
  await clock.advance(1_000)
  const [done] = server.ended.get('run_a') ?? []
  assert.equal(done?.message, 'the server refused its report: injected fault')
})

const REPEATED: [why: string, code: ErrorCode, field?: string][] = [
  ['it may pass', 'store_unavailable', 'done.1.result'],
  ['the token may be put right', 'unauthorized'],
  ['an older server may be upgraded', 'unknown_field', 'done.1.result'],
  ['it is not about a report', 'invalid_field', 'free'],
  ['it is about a report that was not sent', 'invalid_field', 'done.2.result'],
  ['any of them may be too large', 'body_too_large'],
]
for (const [why, code, field] of REPEATED) {
  test(`a refused report is repeated unchanged: ${why}`, async () => {
    const { server, refusals, worker } = await refuseSecond(code, field)
    assert.ok(refusals() > 2)
    assert.equal(server.ended.size, 0)
    assert.equal(worker.stats().unacknowledged, 2)
  })
}

test('an attempt that ends during a long poll is reported at once, under the next number', async () => {
  const { clock, server, calls, exchanges } = await setUp()
  server.submit('run_a')
  server.submit('run_b')
  await flushTasks()
  const poll = last(exchanges())
  assert.equal(poll.waitMs, 10_000)
  calls.get('run_a')?.finish()
  calls.get('run_b')?.finish()
  await flushTasks()
  const report = exchanges().find(({ done }) => done.length > 0)
  assert.equal(report?.number, poll.number + 1)
  assert.equal(report?.done.length, 2)
  assert.equal(report?.waitMs, 0)
  assert.equal(clock.mono(), 0)
})

test('runs that were assigned to an interrupted poll are not lost', async () => {
  const { server, calls } = await setUp()
  server.submit('run_a')
  await flushTasks()
  server.isSlow = true
  server.submit('run_b')
  await flushTasks()
  assert.equal(calls.has('run_b'), false)
  calls.get('run_a')?.finish()
  await flushTasks()
  server.release()
  await flushTasks()
  assert.equal(server.ended.get('run_a')?.length, 1)
  assert.equal(calls.has('run_b'), true)
  calls.get('run_b')?.finish()
  await flushTasks()
  assert.equal(server.ended.get('run_b')?.length, 1)
})

test('the answer to an abandoned message changes nothing', async () => {
  const { clock, server, calls, worker } = await setUp()
  server.submit('run_a')
  await flushTasks()
  server.isSlow = true
  server.submit('run_b')
  await flushTasks()
  server.fail('exchange', 'hang')
  calls.get('run_a')?.finish()
  await flushTasks()
  server.release()
  await flushTasks()
  // The late answer granted run_b; the message that replaced its question is not answered yet.
  assert.equal(calls.has('run_b'), false)
  assert.equal(worker.stats().running, 0)
  await clock.advance(11_000)
  assert.equal(calls.has('run_b'), true)
})

test('answers with a wrong number are ignored', async () => {
  const clock = createVirtualClock()
  const { server, errors, worker } = createWorkerTestWorld(clock)
  const exchange = server.exchange
  server.exchange = async (session, message, signal) => ({
    ...(await exchange(session, message, signal)),
    number: 99,
  })
  await worker.start()
  server.submit('run_a')
  await clock.advance(1_000)
  assert.equal(worker.stats().taken, 0)
  assert.match(String(errors[0]), /answered as number 99/)
})

test('10,000 instant runs take one exchange per batch, not one per run', async () => {
  const { server, worker } = await setUp({
    slots: 100,
    handlers: { instant: (input) => input },
  })
  for (let i = 0; i < 10_000; i += 1) server.submit(`run_${i}`, { job: 'instant', input: '1' })
  await flushTasks(2_000)
  assert.equal(server.ended.size, 10_000)
  assert.ok([...server.ended.values()].every((reports) => reports.length === 1))
  assert.ok(worker.stats().exchanges < 250, `${worker.stats().exchanges} exchanges`)
})

test('results too large for one message are spread over several, and waiting reports reduce the requested slots', async () => {
  const result = 'x'.repeat(64 * 1024)
  const { server, exchanges } = await setUp({ slots: 50, handlers: { big: () => result } })
  for (let i = 0; i < 120; i += 1) server.submit(`run_${i}`, { job: 'big' })
  await flushTasks(500)
  assert.equal(server.ended.size, 120)
  for (const message of exchanges()) {
    assert.ok(JSON.stringify(message).length < LIMITS.bodyBytes)
  }
  const partial = exchanges().filter(({ done }) => done.length > 0 && done.length < 50)
  assert.ok(partial.some(({ free }) => free < 50 - 20))
})

test('runs that come back under a new fence replace the held attempts; repeated assignments do not', async () => {
  const { clock, server, calls } = await setUp()
  server.submit('run_a')
  await flushTasks()
  const first = calls.get('run_a')
  server.lose('run_a')
  server.submit('run_a', { attempt: 2 })
  await flushTasks()
  const second = calls.get('run_a')
  assert.notEqual(first, second)
  assert.equal(first?.context.signal.aborted, true)
  first?.finish('first')
  second?.finish('second')
  await clock.advance(1_000)
  assert.deepEqual(
    server.ended.get('run_a')?.map(({ result }) => result),
    ['"second"'],
  )
})

test('runs in an answer from before a long freeze are not started', async () => {
  const { clock, server, calls } = await setUp()
  const exchange = server.exchange
  server.exchange = async (...message) => {
    const answer = await exchange(...message)
    if (answer.runs.length > 0) clock.freeze(60_000)
    return answer
  }
  await clock.advance(10_000)
  server.submit('run_a')
  await flushTasks()
  assert.equal(calls.size, 0)
})

test('a server that never holds its answers is asked with pauses', async () => {
  const { clock, server, exchanges, calls } = await setUp()
  server.exchange = async (_session, { number }) => {
    server.received.push({ call: 'exchange', text: '{}', atMono: clock.mono() })
    return { number, verdicts: [], runs: [] }
  }
  await clock.advance(20_000)
  assert.ok(exchanges().length < 150, `${exchanges().length} exchanges`)
  assert.equal(calls.size, 0)
})
