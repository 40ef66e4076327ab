import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Assignment, FinishedAttempt } from '../../../core/wire/protocol.ts'
import { createVirtualClock, flushTasks } from '../../../../test/support/virtual-clock.ts'
import { HandlerAttempt } from './handler-attempt.ts'
import type { Handler, HandlerContext } from '../../attempts/handler.ts'

const assignment: Assignment = {
  run: 'run_a',
  fence: 3,
  job: 'job',
  project: 'shop',
  attempt: 2,
  weight: 1,
  timeoutMs: null,
  dueAt: 1_000,
  work: null,
  task: null,
  input: '[1]',
}

function start(handler: Handler, extra: Partial<Assignment> = {}) {
  const clock = createVirtualClock()
  const ends: (FinishedAttempt | undefined)[] = []
  const counts = { returns: 0, ignored: 0 }
  const attempt = new HandlerAttempt({ ...assignment, ...extra }, handler, {
    clock,
    onLost() {},
    onEnd: (_attempt, done) => ends.push(done),
    onReturn: () => void (counts.returns += 1),
    onIgnored: () => void (counts.ignored += 1),
  })
  attempt.start()
  return { clock, ends, counts, attempt }
}

/** A handler that runs until the test ends it and ignores its signal. */
function stubborn() {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  return { handler: () => promise, finish: resolve }
}

test('the context gives a handler its run, job, attempt and secrets', async () => {
  let seen: { input: unknown; context: HandlerContext } | undefined
  const { ends } = start((input, context) => void (seen = { input, context }))
  await flushTasks()
  const { runId, attempt, fence, job, project, dueAt, idempotencyKey, signal } =
    seen?.context ?? ({} as HandlerContext)
  assert.deepEqual(seen?.input, [1])
  assert.equal(signal.aborted, false)
  assert.deepEqual(
    [runId, attempt, fence, job, project, dueAt, idempotencyKey],
    ['run_a', 2, 3, 'job', 'shop', 1_000, 'run_a'],
  )
  assert.deepEqual(ends, [{ run: 'run_a', fence: 3, outcome: 'succeeded' }])
})

test('a handler that throws before its first await fails like any other', async () => {
  const { ends, counts } = start(() => {
    throw new Error('boom')
  })
  await flushTasks()
  assert.equal(ends[0]?.message, 'boom')
  assert.deepEqual(counts, { returns: 1, ignored: 0 })
})

test('a handler that returns a value has ended when it returns', () => {
  const { ends, counts } = start(() => 7)
  assert.deepEqual(ends, [{ run: 'run_a', fence: 3, outcome: 'succeeded', result: '7' }])
  assert.deepEqual(counts, { returns: 1, ignored: 0 })
})

test('any thenable that a handler returns is awaited', async () => {
  // oxlint-disable-next-line unicorn/no-thenable -- what is tested
  const thenable = { then: (done: (value: string) => void) => done('late') }
  const { ends } = start(() => thenable)
  await flushTasks()
  assert.equal(ends[0]?.result, '"late"')
})

test('a returned value whose properties throw fails the attempt, not the worker', async () => {
  // oxlint-disable-next-line unicorn/no-thenable -- what is tested
  const trap = Object.defineProperty({}, 'then', {
    get() {
      throw new Error('do not look')
    },
  })
  const { ends, counts } = start(() => trap)
  await flushTasks()
  assert.equal(ends[0]?.message, 'do not look')
  assert.deepEqual(counts, { returns: 1, ignored: 0 })
})

test('a handler is not called with input that is not JSON', async () => {
  let isCalled = false
  const { ends } = start(() => (isCalled = true), { input: '{' })
  await flushTasks()
  assert.equal(isCalled, false)
  assert.equal(ends[0]?.cause, 'start_error')
})

test('a handler that obeys its signal is reported as timed out', async () => {
  const { clock, ends, counts } = start(
    (_input, { signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error))
      }),
    { timeoutMs: 5_000 },
  )
  await clock.advance(4_999)
  assert.equal(ends.length, 0)
  await clock.advance(1)
  assert.equal(ends[0]?.cause, 'timeout')
  assert.equal(clock.sleeping(), 0)
  assert.deepEqual(counts, { returns: 1, ignored: 0 })
})

test('a handler that stops late, but within the grace, is waited for', async () => {
  const { handler, finish } = stubborn()
  const { clock, ends, counts } = start(handler, { timeoutMs: 5_000 })
  await clock.advance(14_000)
  assert.equal(ends.length, 0)
  finish('late')
  await flushTasks()
  assert.equal(ends[0]?.cause, 'timeout')
  assert.deepEqual(counts, { returns: 1, ignored: 0 })
})

test('a handler that ignores its signal is reported once, after the grace', async () => {
  const { handler, finish } = stubborn()
  const { clock, ends, counts } = start(handler, { timeoutMs: 5_000 })
  await clock.advance(15_000)
  assert.match(ends[0]?.message ?? '', /ignored its signal/)
  assert.deepEqual(counts, { returns: 0, ignored: 1 })
  finish('much too late')
  await flushTasks()
  assert.equal(ends.length, 1)
  assert.deepEqual(counts, { returns: 1, ignored: 1 })
})

test('a run that ends in time leaves no timer behind', async () => {
  const { clock, ends } = start(() => 1, { timeoutMs: 3_600_000 })
  await flushTasks()
  assert.equal(ends.length, 1)
  assert.equal(clock.sleeping(), 0)
})

test('the first stop cause wins', async () => {
  const { handler, finish } = stubborn()
  const { clock, ends, attempt } = start(handler, { timeoutMs: 5_000 })
  attempt.stop('cancelled')
  await clock.advance(6_000)
  attempt.stop('draining')
  finish('in the end')
  await flushTasks()
  assert.equal(ends[0]?.outcome, 'succeeded')
})

test('stopping an attempt that has already returned does nothing', async () => {
  const { clock, ends, attempt, counts } = start(() => 1)
  await flushTasks()
  attempt.stop('cancelled')
  await clock.advance(60_000)
  assert.equal(ends.length, 1)
  assert.equal(counts.ignored, 0)
})
