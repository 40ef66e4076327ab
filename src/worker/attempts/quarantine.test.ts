import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Assignment, FinishedAttempt } from '../../core/wire/protocol.ts'
import { createVirtualClock } from '../../../test/support/virtual-clock.ts'
import { createQuarantine } from './quarantine.ts'

function start() {
  const clock = createVirtualClock()
  const errors: string[] = []
  const quarantine = createQuarantine({
    clock,
    reporter: { error: (error) => errors.push((error as Error).message), log: () => {} },
    signal: new AbortController().signal,
    onChange: () => {},
  })
  let runs = 0
  const begin = (job: string, weight = 1) => {
    const assignment = { run: `run_${(runs += 1)}`, job, weight } as Assignment
    quarantine.began(assignment)
    return assignment
  }
  const attempt = (job: string, done: Partial<FinishedAttempt>) => {
    const assignment = begin(job)
    quarantine.ended(assignment, { run: assignment.run, fence: 1, outcome: 'failed', ...done })
  }
  const fail = (job: string) => attempt(job, { cause: 'start_error', message: 'no such shell' })
  const failAll = () => ['a', 'b', 'a', 'b', 'a'].forEach(fail)
  return { clock, quarantine, errors, begin, attempt, fail, failAll }
}

test('five start failures in a row quarantine a worker, with the reason', () => {
  const { quarantine, errors, failAll } = start()
  failAll()
  assert.equal(quarantine.allow(10), 0)
  assert.match(quarantine.reason ?? '', /5 attempts in a row .*no such shell/)
  assert.match(errors[0] ?? '', /accepts no runs for 5s/)
})

test('one broken job alone does not quarantine a healthy worker', () => {
  const { quarantine, fail } = start()
  for (let time = 0; time < 50; time += 1) fail('broken')
  assert.equal(quarantine.allow(10), 10)
})

test('any attempt that starts ends the count, even if it fails later', () => {
  for (const done of [{ outcome: 'succeeded' }, { cause: 'exit' }, { cause: 'timeout' }] as const) {
    const { quarantine, attempt, fail } = start()
    for (const job of ['a', 'b', 'a', 'b']) fail(job)
    attempt('c', done)
    for (const job of ['a', 'b', 'a', 'b']) fail(job)
    assert.equal(quarantine.allow(10), 10)
  }
})

test('an attempt that was given back does not count', () => {
  const { quarantine, attempt, fail } = start()
  for (const job of ['a', 'b', 'a', 'b']) fail(job)
  attempt('c', { outcome: 'given_back' })
  fail('a')
  assert.equal(quarantine.allow(10), 0)
})

test('after a pause the worker tries one run, and each failure doubles the pause', async () => {
  const { clock, quarantine, begin, failAll, fail } = start()
  failAll()
  for (const restMs of [5_000, 10_000, 20_000]) {
    await clock.advance(restMs - 1)
    assert.equal(quarantine.allow(10), 0)
    await clock.advance(1)
    assert.equal(quarantine.allow(10), 1)
    fail('a')
  }
  await clock.advance(40_000)
  begin('a')
  assert.equal(quarantine.allow(10), 0, 'one at a time')
})

test('a pause is never longer than five minutes', async () => {
  const { clock, quarantine, failAll, fail } = start()
  failAll()
  for (let time = 0; time < 12; time += 1) {
    await clock.advance(300_000)
    fail('a')
  }
  await clock.advance(300_000)
  assert.equal(quarantine.allow(10), 1)
})

test('a probe that succeeds, or still runs after a while, ends the quarantine', async () => {
  const ended = start()
  ended.failAll()
  await ended.clock.advance(5_000)
  ended.attempt('a', { outcome: 'succeeded' })
  assert.deepEqual([ended.quarantine.allow(10), ended.quarantine.reason], [10, null])

  const long = start()
  long.failAll()
  await long.clock.advance(5_000)
  long.begin('a')
  await long.clock.advance(5_000)
  assert.equal(long.quarantine.allow(9), 9)
})

test('the worker offers the probe enough slots for the heaviest run so far', async () => {
  const { clock, quarantine, begin, failAll } = start()
  begin('heavy', 4)
  failAll()
  await clock.advance(5_000)
  assert.equal(quarantine.allow(10), 4)
})
