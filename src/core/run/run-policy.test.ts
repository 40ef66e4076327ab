import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodePolicy, DEFAULT_POLICY, encodePolicy, type PolicyInput } from './run-policy.ts'
import { BACKOFFS, DEFAULT_RETRY, RETRIABLE_CAUSES } from './retry.ts'

const DEFAULTS: readonly [why: string, input: PolicyInput][] = [
  ['an empty policy', {}],
  ['an empty retry', { retry: {} }],
  ['a retry that is absent', { retry: undefined, onLost: undefined }],
  ['an explicit default', { onLost: 'retry' }],
]
for (const [why, input] of DEFAULTS) {
  test(`${why} is stored as null and means the default`, () => {
    assert.equal(encodePolicy(input), null)
    assert.deepEqual(decodePolicy(encodePolicy(input)), DEFAULT_POLICY)
  })
}

const input: fc.Arbitrary<PolicyInput> = fc.record(
  {
    retry: fc.record(
      {
        max: fc.nat(1_000),
        backoff: fc.constantFrom(...BACKOFFS),
        delayMs: fc.nat(),
        maxDelayMs: fc.nat(),
        jitter: fc.double({ min: 0, max: 1, noNaN: true }),
        on: fc.subarray([...RETRIABLE_CAUSES]),
      },
      { requiredKeys: [] },
    ),
    onLost: fc.constantFrom('retry', 'fail'),
  },
  { requiredKeys: [] },
)

test('decodes given fields, and defaults for the rest', () => {
  fc.assert(
    fc.property(input, (said) => {
      const policy = decodePolicy(encodePolicy(said))
      const maxDelayMs = Math.max(DEFAULT_RETRY.maxDelayMs, said.retry?.delayMs ?? 0)
      const retry = { ...DEFAULT_RETRY, maxDelayMs, ...said.retry }
      assert.deepEqual(
        JSON.stringify(policy),
        JSON.stringify({ ...DEFAULT_POLICY, ...said, retry }),
      )
    }),
  )
})

test('a delay above the default maximum is not shortened', () => {
  const day = 86_400_000
  assert.equal(decodePolicy(encodePolicy({ retry: { delayMs: day } })).retry.maxDelayMs, day)
})

test('no user input changes how many attempts may be lost', () => {
  const sneaky = JSON.stringify({ onLost: 'retry', lostMax: 1_000_000, retry: { max: 1 } })
  assert.equal(decodePolicy(sneaky).lostMax, DEFAULT_POLICY.lostMax)
})

test('a policy with hostile keys pollutes no prototype', () => {
  const policy = decodePolicy('{"retry":{"__proto__":{"max":9}},"__proto__":{"onLost":"fail"}}')
  assert.equal(policy.onLost, 'retry')
  assert.equal(policy.retry.max, 0)
  assert.equal(({} as { max?: number }).max, undefined)
})

test('decodes correctly when there are more policies than the cache holds', () => {
  for (let max = 0; max < 2_500; max += 1) {
    assert.equal(decodePolicy(`{"retry":{"max":${max}}}`).retry.max, max)
  }
  assert.equal(decodePolicy('{"retry":{"max":7}}').retry.max, 7)
})

test('equal texts share one decoded policy', () => {
  const text = '{"retry":{"max":3}}'
  assert.equal(decodePolicy(text), decodePolicy(text))
})

test('invalid text is an error, not a default', () => {
  for (const text of ['', '{', 'retry']) assert.throws(() => decodePolicy(text), SyntaxError)
})
