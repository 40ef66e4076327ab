import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import type { Assignment } from '../../core/wire/protocol.ts'
import { createVirtualClock, flushTasks } from '../../../test/support/virtual-clock.ts'
import { HandlerAttempt } from '../executors/handler/handler-attempt.ts'
import { createAttemptTable } from './attempt-table.ts'
import type { Handler } from './handler.ts'

function setUp(slots = 4) {
  const started: string[] = []
  const handlers = new Map<string, Handler>([
    ['instant', () => 1],
    ['polite', (_input, { signal }) => once(signal, 'abort')],
    [
      'endless',
      (_input, { runId, fence }) => {
        started.push(`${runId}/${fence}`)
        return new Promise(() => {})
      },
    ],
  ])
  const attemptTable = createAttemptTable({
    clock: createVirtualClock(),
    slots,
    executors: {
      begin: (assignment, hooks) =>
        new HandlerAttempt(assignment, handlers.get(assignment.job), hooks),
    },
    onAbandoned() {},
    onChange() {},
    onIgnored() {},
  })
  return { attemptTable, started }
}

function grant(run: string, fence: number, extra: Partial<Assignment> = {}): Assignment {
  const defaults = {
    job: 'endless',
    project: 'p',
    attempt: 1,
    weight: 1,
    timeoutMs: null,
    dueAt: 0,
  }
  return { run, fence, ...defaults, work: null, task: null, input: '{}', ...extra }
}

test('an assignment that exceeds the free slots is given back, not started', () => {
  const { attemptTable, started } = setUp()
  attemptTable.accept(grant('run_a', 1, { weight: 3 }))
  attemptTable.accept(grant('run_b', 2, { weight: 2 }))
  assert.deepEqual(started, ['run_a/1'])
  assert.deepEqual(attemptTable.nextReport().done, [
    { run: 'run_b', fence: 2, outcome: 'given_back' },
  ])
  assert.equal(attemptTable.free(), 1)
})

test('a repeated or outdated assignment starts nothing', () => {
  const { attemptTable, started } = setUp()
  for (const fence of [5, 5, 4]) attemptTable.accept(grant('run_a', fence))
  assert.deepEqual(started, ['run_a/5'])
  assert.deepEqual(attemptTable.held(), [{ run: 'run_a', fence: 5 }])
})

test('a finished attempt is held until its own fence is acknowledged', async () => {
  const { attemptTable } = setUp()
  attemptTable.accept(grant('run_a', 1, { job: 'instant' }))
  await flushTasks()
  assert.equal(attemptTable.free(), 4)
  attemptTable.acknowledge({ run: 'run_a', fence: 2 })
  assert.deepEqual(attemptTable.held(), [{ run: 'run_a', fence: 1 }])
  attemptTable.acknowledge({ run: 'run_a', fence: 1 })
  assert.equal(attemptTable.isEmpty(), true)
})

test('an expired lease drops running attempts and keeps finished ones', async () => {
  const { attemptTable } = setUp()
  attemptTable.accept(grant('run_a', 1))
  attemptTable.accept(grant('run_b', 2, { job: 'instant' }))
  await flushTasks()
  attemptTable.abandonRunning()
  assert.deepEqual(attemptTable.held(), [{ run: 'run_b', fence: 2 }])
  assert.deepEqual(attemptTable.abandoned(), [{ run: 'run_a', fence: 1 }])
  assert.equal(attemptTable.counts().lost, 1)
})

test('attempts that the server calls lost are remembered, up to the number of slots', async () => {
  const { attemptTable } = setUp()
  for (const fence of [1, 2, 3, 4, 5]) {
    attemptTable.accept(grant(`run_${fence}`, fence, { job: 'polite' }))
    attemptTable.markLost({ run: `run_${fence}`, fence })
    await flushTasks()
  }
  assert.deepEqual(
    attemptTable.dropped().map(({ fence }) => fence),
    [2, 3, 4, 5],
  )
  attemptTable.clearReportedLosses()
  assert.deepEqual(attemptTable.dropped(), [])
})

test('a job without a handler fails to start', async () => {
  const { attemptTable } = setUp()
  attemptTable.accept(grant('run_a', 1, { job: 'unheard' }))
  await flushTasks()
  const [done] = attemptTable.nextReport().done
  assert.equal(done?.cause, 'start_error')
  assert.equal(done?.retriable, undefined)
})

test('one report holds a bounded number of runs', async () => {
  const { attemptTable } = setUp(10_000)
  for (let i = 0; i < 5_000; i += 1) attemptTable.accept(grant(`run_${i}`, i, { job: 'instant' }))
  await flushTasks()
  const { done, unreported } = attemptTable.nextReport()
  assert.equal(done.length, 2_000)
  assert.equal(unreported, 3_000)
})
