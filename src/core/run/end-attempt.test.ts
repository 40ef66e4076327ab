import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { endAttempt, type AttemptSnapshot, type AttemptReport } from './end-attempt.ts'
import { DEFAULT_POLICY, type RunPolicy } from './run-policy.ts'
import { BACKOFFS, DEFAULT_RETRY, RETRIABLE_CAUSES } from './retry.ts'
import { isFinal, isRefused, transition, type AttemptEnd, type RunPosition } from './run-state.ts'

const RUN_ID = 4_242
const withRetries = (max: number, more: Partial<RunPolicy> = {}): RunPolicy => ({
  ...DEFAULT_POLICY,
  retry: { ...DEFAULT_RETRY, max, jitter: 0 },
  ...more,
})
const attempt = (changes: Partial<AttemptSnapshot> = {}): AttemptSnapshot => ({
  runId: RUN_ID,
  attempt: 1,
  lost: 0,
  cancelling: false,
  policy: withRetries(2),
  ...changes,
})
const failed = (retriable = true): AttemptReport => ({ kind: 'failed', cause: 'exit', retriable })
const retry = (delayMs: number, lost = 0): AttemptEnd => ({
  to: 'retry',
  cause: 'exit',
  delayMs,
  lost,
})

const TABLE: readonly [
  why: string,
  attempt: AttemptSnapshot,
  report: AttemptReport,
  ending: AttemptEnd,
][] = [
  ['a success is a success', attempt(), { kind: 'succeeded' }, { to: 'succeeded' }],
  ['a first failure is retried after the first delay', attempt(), failed(), retry(1_000)],
  ['a second failure waits twice as long', attempt({ attempt: 2 }), failed(), retry(2_000)],
  [
    'a failure after the last retry is final',
    attempt({ attempt: 3 }),
    failed(),
    { to: 'failed', cause: 'exit' },
  ],
  [
    'a failure that would repeat is not retried',
    attempt(),
    failed(false),
    { to: 'failed', cause: 'exit' },
  ],
  [
    'a failure without a policy is not retried',
    attempt({ policy: DEFAULT_POLICY }),
    failed(),
    { to: 'failed', cause: 'exit' },
  ],
  [
    'lost attempts do not spend retries',
    attempt({ attempt: 3, lost: 2 }),
    failed(),
    retry(1_000, 2),
  ],
  [
    'a lost attempt starts again at once',
    attempt(),
    { kind: 'lost' },
    { to: 'retry', cause: 'lost', delayMs: 0, lost: 1 },
  ],
  [
    'a loss needs no retries to start again',
    attempt({ policy: DEFAULT_POLICY }),
    { kind: 'lost' },
    { to: 'retry', cause: 'lost', delayMs: 0, lost: 1 },
  ],
  [
    'one loss too many is final',
    attempt({ attempt: 4, lost: 3 }),
    { kind: 'lost' },
    { to: 'failed', cause: 'lost' },
  ],
  [
    'at most once: a lost attempt never starts again',
    attempt({ policy: withRetries(9, { onLost: 'fail' }) }),
    { kind: 'lost' },
    { to: 'failed', cause: 'lost' },
  ],
  [
    'an attempt that is given back uses no budget',
    attempt({ attempt: 3, lost: 1 }),
    { kind: 'given_back' },
    { to: 'given_back' },
  ],
  [
    'an attempt stopped by its worker is cancelled',
    attempt(),
    { kind: 'cancelled' },
    { to: 'cancelled', cause: 'cancelled' },
  ],
  [
    'success beats a cancel that came too late',
    attempt({ cancelling: true }),
    { kind: 'succeeded' },
    { to: 'succeeded' },
  ],
  [
    'a failure does not beat a cancel',
    attempt({ cancelling: true }),
    failed(),
    { to: 'cancelled', cause: 'exit' },
  ],
  [
    'a loss does not beat a cancel',
    attempt({ cancelling: true }),
    { kind: 'lost' },
    { to: 'cancelled', cause: 'lost' },
  ],
  [
    'giving back does not beat a cancel',
    attempt({ cancelling: true }),
    { kind: 'given_back' },
    { to: 'cancelled', cause: 'cancelled' },
  ],
]
for (const [why, under, report, ending] of TABLE) {
  test(why, () => assert.deepEqual(endAttempt(under, report), ending))
}

const anyReport: fc.Arbitrary<AttemptReport> = fc.oneof(
  fc.constant({ kind: 'succeeded' } as const),
  fc.record({
    kind: fc.constant('failed' as const),
    cause: fc.constantFrom(...RETRIABLE_CAUSES),
    retriable: fc.boolean(),
  }),
  fc.constantFrom(
    { kind: 'cancelled' } as const,
    { kind: 'lost' } as const,
    { kind: 'given_back' } as const,
  ),
)
const anyPolicy: fc.Arbitrary<RunPolicy> = fc.record({
  retry: fc.record({
    max: fc.nat(6),
    backoff: fc.constantFrom(...BACKOFFS),
    delayMs: fc.nat(5_000),
    maxDelayMs: fc.nat(60_000),
    jitter: fc.constantFrom(0, 0.2, 1),
    on: fc.subarray([...RETRIABLE_CAUSES]),
  }),
  onLost: fc.constantFrom('retry', 'fail'),
  lostMax: fc.nat(4),
  secrets: fc.constant([]),
})

/** Moves a waiting run to its next attempt, as promotion and claim would. */
function startAgain(position: RunPosition, fence: number): RunPosition {
  let next = position
  for (const event of [
    { type: 'came_due', gated: true },
    { type: 'admitted' },
    { type: 'claimed', fence },
  ] as const) {
    const outcome = transition(next, event)
    if (!isRefused(outcome)) next = outcome
  }
  return next
}

test('any sequence of reports: every transition is legal and attempts stay within their budgets', () => {
  const step = fc.record({ report: anyReport, cancelling: fc.boolean() })
  fc.assert(
    fc.property(anyPolicy, fc.array(step, { minLength: 1, maxLength: 40 }), (policy, steps) => {
      let lost = 0
      let fence = 1
      let run = startAgain({ state: 'ready', attempt: 1 }, fence)
      for (const { report, cancelling: asked } of steps) {
        const cancelling = asked && report.kind !== 'given_back'
        if (cancelling) run = { ...run, cancelling }
        const under = { runId: RUN_ID, attempt: run.attempt, lost, cancelling, policy }
        const ending = endAttempt(under, report)
        const after = transition(run, { type: 'ended', fence, ending })
        assert.ok(!isRefused(after), 'what endAttempt decides, transition accepts')
        if (report.kind === 'given_back') assert.equal(after.attempt, run.attempt)
        if (ending.to === 'retry') lost = ending.lost
        assert.ok(lost <= policy.lostMax)
        assert.ok(after.attempt <= 1 + policy.retry.max + policy.lostMax)
        if (isFinal(after.state)) return
        run = startAgain(after, (fence += 1))
        assert.equal(run.state, 'running')
      }
    }),
    { numRuns: 1_000 },
  )
})

test('with a cancel request, every report except success cancels the run', () => {
  fc.assert(
    fc.property(anyPolicy, anyReport, fc.integer({ min: 1, max: 9 }), (policy, report, number) => {
      const under = { runId: RUN_ID, attempt: number, lost: 0, cancelling: true, policy }
      const expected = report.kind === 'succeeded' ? 'succeeded' : 'cancelled'
      assert.equal(endAttempt(under, report).to, expected)
    }),
  )
})

test('at most once: no report starts a lost attempt again', () => {
  fc.assert(
    fc.property(anyPolicy, fc.nat(5), (policy, lost) => {
      const under = attempt({ attempt: lost + 1, lost, policy: { ...policy, onLost: 'fail' } })
      assert.deepEqual(endAttempt(under, { kind: 'lost' }), { to: 'failed', cause: 'lost' })
    }),
  )
})

test('a run that kills its worker every time is not restarted forever', () => {
  let starts = 0
  let lost = 0
  for (let ending: AttemptEnd = { to: 'given_back' }; ending.to !== 'failed';) {
    starts += 1
    ending = endAttempt(attempt({ attempt: starts, lost, policy: withRetries(100) }), {
      kind: 'lost',
    })
    if (ending.to === 'retry') lost = ending.lost
  }
  assert.equal(starts, 1 + DEFAULT_POLICY.lostMax)
})
