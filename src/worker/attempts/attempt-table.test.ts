import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import type { Assignment } from '../../core/wire/protocol.ts'
import { createVirtualClock, settle } from '../../../test/support/virtual-clock.ts'
import { Attempt } from '../executors/handler/handler-attempt.ts'
import { createBook } from './attempt-table.ts'
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
  const book = createBook({
    clock: createVirtualClock(),
    slots,
    begin: (assignment, hooks) => new Attempt(assignment, handlers.get(assignment.job), hooks),
    onForsaken() {},
    onChange() {},
    onIgnored() {},
  })
  return { book, started }
}

function grant(run: string, fence: number, extra: Partial<Assignment> = {}): Assignment {
  const usual = { job: 'endless', project: 'p', attempt: 1, weight: 1, timeoutMs: null, dueAt: 0 }
  return { run, fence, ...usual, work: null, task: null, input: '{}', ...extra }
}

test('what does not fit is given back, not started', () => {
  const { book, started } = setUp()
  book.take(grant('run_a', 1, { weight: 3 }))
  book.take(grant('run_b', 2, { weight: 2 }))
  assert.deepEqual(started, ['run_a/1'])
  assert.deepEqual(book.nextReport().done, [{ run: 'run_b', fence: 2, outcome: 'given_back' }])
  assert.equal(book.free(), 1)
})

test('a grant that is repeated or outdated starts nothing', () => {
  const { book, started } = setUp()
  for (const fence of [5, 5, 4]) book.take(grant('run_a', fence))
  assert.deepEqual(started, ['run_a/5'])
  assert.deepEqual(book.held(), [{ run: 'run_a', fence: 5 }])
})

test('what has finished is held until it is acknowledged, and by its own fence only', async () => {
  const { book } = setUp()
  book.take(grant('run_a', 1, { job: 'instant' }))
  await settle()
  assert.equal(book.free(), 4)
  book.acknowledge({ run: 'run_a', fence: 2 })
  assert.deepEqual(book.held(), [{ run: 'run_a', fence: 1 }])
  book.acknowledge({ run: 'run_a', fence: 1 })
  assert.equal(book.isEmpty(), true)
})

test('a lapse takes what runs and keeps what has finished', async () => {
  const { book } = setUp()
  book.take(grant('run_a', 1))
  book.take(grant('run_b', 2, { job: 'instant' }))
  await settle()
  book.forsake()
  assert.deepEqual(book.held(), [{ run: 'run_b', fence: 2 }])
  assert.deepEqual(book.forsaken(), [{ run: 'run_a', fence: 1 }])
  assert.equal(book.counts().lost, 1)
})

test('what the server calls lost is remembered as begun, as much of it as there are slots', async () => {
  const { book } = setUp()
  for (const fence of [1, 2, 3, 4, 5]) {
    book.take(grant(`run_${fence}`, fence, { job: 'polite' }))
    book.lose({ run: `run_${fence}`, fence })
    await settle()
  }
  assert.deepEqual(
    book.disowned().map(({ fence }) => fence),
    [2, 3, 4, 5],
  )
  book.confess()
  assert.deepEqual(book.disowned(), [])
})

test('a job without a handler fails to start', async () => {
  const { book } = setUp()
  book.take(grant('run_a', 1, { job: 'unheard' }))
  await settle()
  const [done] = book.nextReport().done
  assert.equal(done?.cause, 'start_error')
  assert.equal(done?.retriable, undefined)
})

test('one report holds a bounded number of runs', async () => {
  const { book } = setUp(10_000)
  for (let i = 0; i < 5_000; i += 1) book.take(grant(`run_${i}`, i, { job: 'instant' }))
  await settle()
  const { done, unreported } = book.nextReport()
  assert.equal(done.length, 2_000)
  assert.equal(unreported, 3_000)
})
