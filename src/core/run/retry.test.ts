import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BACKOFFS, DEFAULT_RETRY, mayRetry, retryDelayMs, type RetryPolicy } from './retry.ts'
import { CAUSES } from './run-state.ts'

const YEAR_MS = 366 * 86_400_000
const fraction = fc.double({ min: 0, max: 1, noNaN: true })
const retry = fc.integer({ min: 1, max: 1_000 })
const runId = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
const policy: fc.Arbitrary<RetryPolicy> = fc.record({
  max: fc.nat(1_000),
  backoff: fc.constantFrom(...BACKOFFS),
  delayMs: fc.nat(YEAR_MS),
  maxDelayMs: fc.nat(YEAR_MS),
  jitter: fraction,
  on: fc.subarray([...CAUSES]),
})

const DELAYS: readonly [why: string, policy: Partial<RetryPolicy>, delays: readonly number[]][] = [
  ['fixed delays are constant', { backoff: 'fixed', delayMs: 500 }, [500, 500, 500]],
  ['linear delays grow by the delay', { backoff: 'linear', delayMs: 500 }, [500, 1_000, 1_500]],
  ['exponential delays double', { backoff: 'exponential', delayMs: 500 }, [500, 1_000, 2_000]],
  ['a delay of zero stays zero', { backoff: 'exponential', delayMs: 0 }, [0, 0, 0]],
  ['no delay exceeds the maximum', { delayMs: 500, maxDelayMs: 700 }, [500, 700, 700]],
  ['a first delay above the maximum is not used', { delayMs: 900, maxDelayMs: 700 }, [700, 700]],
]
for (const [why, changes, delays] of DELAYS) {
  test(why, () => {
    const steady = { ...DEFAULT_RETRY, jitter: 0, ...changes }
    assert.deepEqual(
      delays.map((_, index) => retryDelayMs(steady, index + 1, 99)),
      delays,
    )
  })
}

test('a delay is a whole number of milliseconds between zero and the maximum', () => {
  fc.assert(
    fc.property(policy, retry, runId, (any, n, id) => {
      const delayMs = retryDelayMs(any, n, id)
      assert.ok(Number.isInteger(delayMs) && delayMs >= 0 && delayMs <= any.maxDelayMs)
    }),
  )
})

test('a delay depends only on the policy, the run and the retry', () => {
  fc.assert(
    fc.property(policy, retry, runId, (any, n, id) => {
      assert.equal(retryDelayMs(any, n, id), retryDelayMs(structuredClone(any), n, id))
    }),
  )
})

test('jitter stays within its share of the delay', () => {
  fc.assert(
    fc.property(policy, retry, runId, (any, n, id) => {
      const steady = retryDelayMs({ ...any, jitter: 0 }, n, id)
      const spreadMs = steady * any.jitter + 1
      const delayMs = retryDelayMs(any, n, id)
      assert.ok(Math.abs(delayMs - steady) <= spreadMs, `${delayMs} is not near ${steady}`)
    }),
  )
})

test('later retries never wait less, except for jitter', () => {
  const growing = policy.map((any) => ({ ...any, jitter: 0 }))
  fc.assert(
    fc.property(growing, retry, retry, runId, (any, a, b, id) => {
      const [sooner, later] = [Math.min(a, b), Math.max(a, b)]
      assert.ok(retryDelayMs(any, sooner, id) <= retryDelayMs(any, later, id))
    }),
  )
})

test('many runs that failed together retry at different times', () => {
  const delays = Array.from({ length: 1_000 }, (_, index) =>
    retryDelayMs({ ...DEFAULT_RETRY, delayMs: 10_000 }, 1, 5_000_000_000_000 + index),
  )
  const halves = delays.filter((delayMs) => delayMs < 10_000).length
  assert.ok(halves > 400 && halves < 600, `${halves} of 1000 come back early`)
  assert.ok(new Set(delays).size > 700)
})

const MAY: readonly [
  why: string,
  max: number,
  used: number,
  cause: (typeof CAUSES)[number],
  may: boolean,
][] = [
  ['a first failure may be retried', 1, 0, 'exit', true],
  ['the last retry may be used', 3, 2, 'timeout', true],
  ['a spent budget is spent', 3, 3, 'exit', false],
  ['an overspent budget is spent', 3, 4, 'exit', false],
  ['no budget, no retry', 0, 0, 'exit', false],
  ['a loss is not retried from this budget', 3, 0, 'lost', false],
  ['a cancel is not retried', 3, 0, 'cancelled', false],
]
for (const [why, max, used, cause, may] of MAY) {
  test(why, () => assert.equal(mayRetry({ ...DEFAULT_RETRY, max }, cause, used), may))
}

test('an unlisted cause is not retried', () => {
  assert.equal(mayRetry({ ...DEFAULT_RETRY, max: 9, on: ['timeout'] }, 'exit', 0), false)
  assert.equal(mayRetry({ ...DEFAULT_RETRY, max: 9, on: ['timeout'] }, 'timeout', 0), true)
})
