import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  type Bucket,
  EMPTY_BUCKET,
  fillBucket,
  nextStartAt,
  parseRate,
  type Rate,
  readRate,
  availableStarts,
} from './rate.ts'

const START = Date.UTC(2026, 0, 1)
const rate = (limit: number, perMs: number, burst: number): Rate => ({ limit, perMs, burst })

const rates = fc.record({
  limit: fc.integer({ min: 1, max: 1_000 }),
  perMs: fc.integer({ min: 1_000, max: 3_600_000 }),
  burst: fc.integer({ min: 1, max: 50 }),
})

describe('a rate bucket', () => {
  test('no window ever exceeds its rate plus a burst, whenever it is asked', () => {
    const asks = fc.array(
      fc.record({ afterMs: fc.nat(5_000), wanted: fc.integer({ min: 1, max: 60 }) }),
      { minLength: 1, maxLength: 60 },
    )
    fc.assert(
      fc.property(rates, asks, (given, sequence) => {
        let bucket: Bucket = EMPTY_BUCKET
        let now = START
        const starts: number[] = []
        for (const { afterMs, wanted } of sequence) {
          now += afterMs
          const taken = Math.min(wanted, availableStarts(given, bucket, now))
          bucket = fillBucket(given, bucket, now, taken)
          for (let one = 0; one < taken; one += 1) starts.push(now)
        }
        for (const [first, from] of starts.entries()) {
          for (let last = first; last < starts.length; last += 1) {
            const windowMs = (starts[last] as number) - from
            const allowed = given.burst + (windowMs * given.limit) / given.perMs
            assert.ok(last - first + 1 <= allowed, `${last - first + 1} in ${windowMs} ms`)
          }
        }
      }),
    )
  })

  test('a caller that returns at the given time can start, and not a millisecond earlier', () => {
    fc.assert(
      fc.property(rates, (given) => {
        let bucket: Bucket = fillBucket(given, EMPTY_BUCKET, START, given.burst)
        let now = START
        for (let start = 0; start < 20; start += 1) {
          const next = nextStartAt(given, bucket, now)
          if (next > now) assert.equal(availableStarts(given, bucket, next - 1), 0)
          assert.ok(availableStarts(given, bucket, next) >= 1)
          bucket = fillBucket(given, bucket, next, 1)
          now = next
        }
        // Each start loses at most a millisecond.
        const wouldBeMs = (20 * given.perMs) / given.limit
        assert.ok(now - START <= wouldBeMs + 20, `${now - START} of ${wouldBeMs} ms`)
      }),
    )
  })

  test('two readers with slightly different clocks start no extra runs', () => {
    const given = rate(1, 1_000, 1)
    const bucket = fillBucket(given, EMPTY_BUCKET, START, 1)
    const late = fillBucket(given, bucket, START - 5, 0)
    assert.equal(nextStartAt(given, late, START), START + 1_000)
  })

  test('a clock that was set back by an hour does not block the queue for an hour', () => {
    const given = rate(1, 1_000, 1)
    const bucket = fillBucket(given, EMPTY_BUCKET, START, 1)
    const now = START - 3_600_000
    assert.equal(nextStartAt(given, bucket, now), now + 1_000)
  })

  test('a clock that jumped ahead empties the bucket once, no more', () => {
    const given = rate(10, 1_000, 4)
    const bucket = fillBucket(given, EMPTY_BUCKET, START, 4)
    assert.equal(availableStarts(given, bucket, START + 86_400_000), 4)
  })
})

describe('readRate', () => {
  for (const [text, limit, perMs, burst] of [
    ['100/1m', 100, 60_000, 2],
    ['5/s', 5, 1_000, 5],
    ['1/h', 1, 3_600_000, 1],
    ['1000/1s', 1_000, 1_000, 1_000],
  ] as const) {
    test(`${text} is ${limit} in ${perMs} ms with a burst of ${burst}`, () => {
      assert.deepEqual(readRate(parseRate(text)), { limit, perMs, burst })
    })
  }

  for (const text of ['', '100', '0/1m', '-1/1m', '1.5/s', '100/', '100/fortnight', '10/1ms']) {
    test(`rejects "${text}"`, () => {
      assert.throws(() => readRate(parseRate(text)), { code: 'invalid_field' })
    })
  }
})
