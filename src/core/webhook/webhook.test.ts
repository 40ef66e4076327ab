import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventBitsOf, eventsOf, isForJob, WEBHOOK_EVENTS } from './webhook.ts'
import { DELIVERY_TRIED_MS, evaluateDelivery } from './delivery.ts'

test('a set of events can be stored and read, in whatever order it was written', () => {
  for (let bits = 0; bits < 2 ** WEBHOOK_EVENTS.length; bits += 1) {
    assert.equal(eventBitsOf(eventsOf(bits)), bits)
  }
  assert.equal(eventBitsOf(['run.cancelled', 'run.failed', 'run.failed']), 9)
})

const matching: [jobs: readonly string[] | null, job: string, is: boolean][] = [
  [null, 'etl', true],
  [['etl'], 'etl', true],
  [['etl'], 'etl2', false],
  [['etl'], 'my-etl', false],
  [['a', 'etl'], 'etl', true],
  [['*'], 'etl', true],
  [['etl-*'], 'etl-', true],
  [['etl-*'], 'etl', false],
  [['*-etl'], 'my-etl', true],
  [['*-etl'], 'my-etl-2', false],
  [['a*c*e'], 'abcde', true],
  [['a*c*e'], 'ace', true],
  [['a*c*e'], 'aec', false],
  [['a*a'], 'a', false],
  [['ab*ba'], 'aba', false],
  [['a**b'], 'ab', true],
  [['e.l'], 'etl', false],
  [['[a]'], 'a', false],
]
for (const [jobs, job, is] of matching) {
  test(`${jobs === null ? 'no pattern' : jobs.join()} is ${is ? '' : 'not '}for ${job}`, () =>
    assert.equal(isForJob(jobs, job), is))
}

test('a hostile pattern is not slow', () => {
  assert.equal(isForJob(['*a'.repeat(64)], 'a'.repeat(128)), true)
  assert.equal(isForJob([`${'*a'.repeat(64)}*b`], 'a'.repeat(128)), false)
})

const fresh = { id: 7, attempts: 1, since: 0 }

for (const [status, to] of [
  [200, 'delivered'],
  [204, 'delivered'],
  [299, 'delivered'],
  [199, 'retry'],
  [301, 'retry'],
  [404, 'retry'],
  [410, 'gone'],
  [500, 'retry'],
  [null, 'retry'],
] as const) {
  test(`${status ?? 'no answer'} means ${to}`, () =>
    assert.equal(evaluateDelivery(fresh, status, 0).to, to))
}

test('the delays grow, and deliveries fail after a day', () => {
  let now = 0
  const waits: number[] = []
  for (let attempts = 1; ; attempts += 1) {
    const verdict = evaluateDelivery({ ...fresh, attempts }, null, now)
    if (verdict.to === 'failed') break
    assert.equal(verdict.to, 'retry')
    const { waitMs } = verdict as { waitMs: number }
    waits.push(waitMs)
    now += waitMs
  }
  assert.ok(now <= DELIVERY_TRIED_MS && now > DELIVERY_TRIED_MS * 0.7, `${now}`)
  assert.ok((waits[0] as number) < 10_000 && waits.length > 8 && waits.length < 30, waits.join())
  assert.ok(waits.every((wait) => wait <= 4 * 3_600_000))
})
