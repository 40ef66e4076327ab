import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../../core/limits.ts'
import type { FinishedAttempt } from '../../core/wire/protocol.ts'
import { FatalError, type StopCause } from './handler.ts'
import { capMessage } from '../output/cap-message.ts'
import { outcomeOf, type Settled, withoutRefused } from './outcome.ts'

const held = { run: 'run_1', fence: 7 }
const assignment = { ...held, timeoutMs: 50 }
const returned = (value?: unknown): Settled => ({ kind: 'returned', value })
const threw = (error: unknown): Settled => ({ kind: 'threw', error })
const ignored: Settled = { kind: 'ignored' }
const failedWith = (message: string) => ({ outcome: 'failed', cause: 'error', message })
const fatally = (message: string) => ({ ...failedWith(message), retriable: false })
const circular: { self?: unknown } = {}
circular.self = circular
const unreadable = {
  get retriable() {
    throw new Error('no')
  },
  toString() {
    throw new Error('no')
  },
}

const table: [
  why: string,
  stopped: StopCause | undefined,
  settled: Settled,
  expected: object | undefined,
][] = [
  [
    'a value is the result',
    undefined,
    returned({ a: 1 }),
    { outcome: 'succeeded', result: '{"a":1}' },
  ],
  ['no value is no result', undefined, returned(), { outcome: 'succeeded' }],
  ['null is a result', undefined, returned(null), { outcome: 'succeeded', result: 'null' }],
  [
    'a result that is not JSON is no result',
    undefined,
    returned(1n),
    fatally('the result is not JSON: Do not know how to serialize a BigInt'),
  ],
  [
    'a result may be as large as the limit',
    undefined,
    returned('x'.repeat(LIMITS.resultBytes - 2)),
    { outcome: 'succeeded', result: `"${'x'.repeat(LIMITS.resultBytes - 2)}"` },
  ],
  [
    'a larger result fails for good',
    undefined,
    returned('é'.repeat(LIMITS.resultBytes / 2)),
    fatally('the result has 8388610 bytes; at most 8388608 are accepted'),
  ],
  ['what is thrown fails the attempt', undefined, threw(new Error('boom')), failedWith('boom')],
  [
    'an error without words gives its name',
    undefined,
    threw(new TypeError()),
    failedWith('TypeError'),
  ],
  ['anything can be thrown', undefined, threw('text'), failedWith('text')],
  ['even nothing', undefined, threw(undefined), failedWith('undefined')],
  [
    'even what cannot be looked at',
    undefined,
    threw(unreadable),
    failedWith('the handler threw something that cannot be read'),
  ],
  ['a fatal error is not retried', undefined, threw(new FatalError('never')), fatally('never')],
  [
    'nor is anything that says so',
    undefined,
    threw({ retriable: false, toString: () => 'x' }),
    fatally('x'),
  ],
  [
    'a handler that was never called',
    undefined,
    { kind: 'unstartable', message: 'no' },
    { outcome: 'failed', cause: 'start_error', message: 'no' },
  ],
  [
    'success wins over a late cancel',
    'cancelled',
    returned(1),
    { outcome: 'succeeded', result: '1' },
  ],
  [
    'a failure after a cancel is the cancel',
    'cancelled',
    threw(new Error('boom')),
    { outcome: 'cancelled' },
  ],
  ['a cancel that is ignored is still one', 'cancelled', ignored, { outcome: 'cancelled' }],
  ['success wins over the end of a drain', 'draining', returned(), { outcome: 'succeeded' }],
  [
    'what a drain interrupts is given back',
    'draining',
    threw(new Error('boom')),
    { outcome: 'given_back' },
  ],
  ['so is what does not even notice', 'draining', ignored, { outcome: 'given_back' }],
  [
    'a result that took too long is none',
    'timeout',
    returned(1),
    { outcome: 'failed', cause: 'timeout', message: 'timed out after 50 ms' },
  ],
  [
    'nor is an error a better reason',
    'timeout',
    threw(new FatalError('x')),
    { outcome: 'failed', cause: 'timeout', message: 'timed out after 50 ms' },
  ],
  [
    'a timeout that is ignored says so',
    'timeout',
    ignored,
    {
      outcome: 'failed',
      cause: 'timeout',
      message: 'timed out after 50 ms, and the handler ignored its signal',
    },
  ],
  ['a lost attempt reports no success', 'lease_lost', returned(1), undefined],
  ['a lost attempt reports no failure', 'lease_lost', threw(new Error('boom')), undefined],
]

for (const [why, stopped, settled, expected] of table) {
  test(why, () => {
    assert.deepEqual(outcomeOf(assignment, stopped, settled), expected && { ...held, ...expected })
  })
}

test('a circular result fails without a retry', () => {
  const done = outcomeOf(assignment, undefined, returned(circular))
  assert.equal(done?.outcome, 'failed')
  assert.equal(done?.retriable, false)
})

test('a long message is cut between characters', () => {
  const text = capMessage(`x${'😀'.repeat(LIMITS.messageBytes)}`)
  assert.ok(Buffer.byteLength(text) <= LIMITS.messageBytes)
  assert.ok(Buffer.byteLength(text) > LIMITS.messageBytes - 4)
  assert.ok(text.isWellFormed())
})

test('a message contains no NUL and no half characters', () => {
  assert.equal(capMessage('a\0b\uD800c'), 'a\uFFFDb\uFFFDc')
})

test('a replaced report keeps everything that is still true', () => {
  const process = { exit_code: 1 }
  const failed = {
    ...held,
    outcome: 'failed',
    cause: 'exit',
    message: 'exited with code 1',
  } as const
  const refused = fatally('the server refused its report: no')
  const table: [why: string, report: FinishedAttempt, left: object | undefined][] = [
    [
      'no success',
      { ...held, outcome: 'succeeded', result: '1', process },
      { ...held, ...refused },
    ],
    ['the same failure', { ...failed, process }, failed],
    ['nothing more can be left out', failed, undefined],
  ]
  for (const [why, report, left] of table) assert.deepEqual(withoutRefused(report, 'no'), left, why)
})
