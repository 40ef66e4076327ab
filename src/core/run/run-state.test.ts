import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  CAUSES,
  isFinal,
  isRefused,
  STATE_CODE,
  stateOfCode,
  STATES,
  transition,
  type RunTransitionEvent,
  type RunPosition,
  type RunState,
} from './run-state.ts'

const FENCE = 2 ** 20
const cause = fc.constantFrom(...CAUSES)
const ending = fc.oneof(
  fc.constant({ to: 'succeeded' } as const),
  fc.record({ to: fc.constantFrom('failed', 'cancelled'), cause }),
  fc.record({ to: fc.constant('retry'), cause, delayMs: fc.nat(10), lost: fc.nat(3) }),
  fc.constant({ to: 'given_back' } as const),
)
const event: fc.Arbitrary<RunTransitionEvent> = fc.oneof(
  fc.record({ type: fc.constant('came_due'), gated: fc.boolean() }),
  fc.constant({ type: 'admitted' } as const),
  fc.record({ type: fc.constant('claimed'), fence: fc.integer({ min: FENCE, max: FENCE + 3 }) }),
  fc.record({
    type: fc.constant('ended'),
    fence: fc.integer({ min: FENCE, max: FENCE + 3 }),
    ending,
  }),
  fc.constant({ type: 'cancelled' } as const),
  fc.constant({ type: 'skipped' } as const),
)
const position: fc.Arbitrary<RunPosition> = fc
  .record({
    state: fc.constantFrom(...STATES),
    attempt: fc.integer({ min: 1, max: 9 }),
    fence: fc.integer({ min: FENCE, max: FENCE + 3 }),
    cancelling: fc.boolean(),
  })
  .map(({ state, attempt, fence, cancelling }) =>
    state === 'running' ? { state, attempt, fence, cancelling } : { state, attempt },
  )

/** The documented state graph: every transition, by the event that causes it. */
const EDGES: Readonly<Record<RunTransitionEvent['type'], readonly `${RunState} → ${RunState}`[]>> =
  {
    came_due: ['scheduled → ready', 'scheduled → blocked'],
    admitted: ['blocked → ready'],
    claimed: ['ready → running'],
    ended: [
      'running → succeeded',
      'running → failed',
      'running → cancelled',
      'running → scheduled',
      'running → ready',
    ],
    cancelled: [
      'blocked → cancelled',
      'scheduled → cancelled',
      'ready → cancelled',
      'running → running',
    ],
    skipped: ['blocked → skipped'],
  }

const ready: RunPosition = { state: 'ready', attempt: 1 }
const scheduled: RunPosition = { state: 'scheduled', attempt: 2 }
const blocked: RunPosition = { state: 'blocked', attempt: 1 }
const running: RunPosition = { state: 'running', attempt: 2, fence: FENCE }
const cancelling: RunPosition = { ...running, cancelling: true }
const ended = (to: 'succeeded' | 'given_back', fence = FENCE): RunTransitionEvent => ({
  type: 'ended',
  fence,
  ending: { to },
})
const retried = (delayMs: number): RunTransitionEvent => ({
  type: 'ended',
  fence: FENCE,
  ending: { to: 'retry', cause: 'error', delayMs, lost: 0 },
})
const finished = (to: 'failed' | 'cancelled', fence = FENCE): RunTransitionEvent => ({
  type: 'ended',
  fence,
  ending: { to, cause: 'exit' },
})

const TABLE: readonly [
  why: string,
  from: RunPosition,
  event: RunTransitionEvent,
  to: RunPosition | 'refused',
][] = [
  [
    'a ready run can be claimed',
    ready,
    { type: 'claimed', fence: 7 },
    { ...ready, state: 'running', fence: 7 },
  ],
  ['a running run cannot be claimed', running, { type: 'claimed', fence: 7 }, 'refused'],
  ['a scheduled run cannot be claimed', scheduled, { type: 'claimed', fence: 7 }, 'refused'],
  ['a blocked run cannot be claimed', blocked, { type: 'claimed', fence: 7 }, 'refused'],
  [
    'a run that came due is ready',
    scheduled,
    { type: 'came_due', gated: false },
    { ...scheduled, state: 'ready' },
  ],
  [
    'a gated run that came due waits',
    scheduled,
    { type: 'came_due', gated: true },
    { ...scheduled, state: 'blocked' },
  ],
  ['a ready run does not come due', ready, { type: 'came_due', gated: true }, 'refused'],
  ['an admitted run is ready', blocked, { type: 'admitted' }, { ...blocked, state: 'ready' }],
  ['a scheduled run is not admitted before its time', scheduled, { type: 'admitted' }, 'refused'],
  [
    'its holder finishes it',
    running,
    ended('succeeded'),
    { state: 'succeeded', attempt: 2, fence: FENCE },
  ],
  ['a stale holder changes nothing', running, ended('succeeded', FENCE + 1), 'refused'],
  ['a stale holder does not fail it', running, finished('failed', FENCE - 1), 'refused'],
  ['a run that is ready again has no attempt to end', ready, ended('succeeded'), 'refused'],
  [
    'a retry with a delay waits, one attempt on',
    running,
    retried(1),
    { state: 'scheduled', attempt: 3 },
  ],
  [
    'a retry without one is ready, one attempt on',
    running,
    retried(0),
    { state: 'ready', attempt: 3 },
  ],
  [
    'an attempt that is given back does not count',
    running,
    ended('given_back'),
    { state: 'ready', attempt: 2 },
  ],
  ['a run being cancelled is not retried', cancelling, retried(5), 'refused'],
  ['a run being cancelled is not given back', cancelling, ended('given_back'), 'refused'],
  [
    'a run being cancelled may still succeed',
    cancelling,
    ended('succeeded'),
    { state: 'succeeded', attempt: 2, fence: FENCE },
  ],
  [
    'a run being cancelled ends so',
    cancelling,
    finished('cancelled'),
    { state: 'cancelled', attempt: 2, fence: FENCE },
  ],
  [
    'a waiting run is cancelled at once',
    ready,
    { type: 'cancelled' },
    { state: 'cancelled', attempt: 1 },
  ],
  ['a running run is only marked', running, { type: 'cancelled' }, cancelling],
  ['marking twice is marking once', cancelling, { type: 'cancelled' }, cancelling],
  ['a blocked run can be skipped', blocked, { type: 'skipped' }, { state: 'skipped', attempt: 1 }],
  ['a ready run cannot be skipped', ready, { type: 'skipped' }, 'refused'],
  ['a running run cannot be skipped', running, { type: 'skipped' }, 'refused'],
  [
    'a finished run cannot be cancelled',
    { state: 'succeeded', attempt: 1 },
    { type: 'cancelled' },
    'refused',
  ],
  [
    'a cancelled run cannot come due',
    { state: 'cancelled', attempt: 1 },
    { type: 'came_due', gated: false },
    'refused',
  ],
]
for (const [why, from, happened, to] of TABLE) {
  test(why, () => {
    const outcome = transition(from, happened)
    assert.deepEqual(isRefused(outcome) ? 'refused' : outcome, to)
  })
}

test('no event leaves a final state', () => {
  fc.assert(
    fc.property(position, event, (from, happened) => {
      if (isFinal(from.state)) assert.ok(isRefused(transition(from, happened)))
    }),
  )
})

test('every event in every state is a documented transition or is rejected with a reason', () => {
  fc.assert(
    fc.property(position, event, (from, happened) => {
      const outcome = transition(from, happened)
      if (isRefused(outcome)) return assert.ok(outcome.refused.length > 0)
      assert.ok(EDGES[happened.type].includes(`${from.state} → ${outcome.state}`))
    }),
    { numRuns: 2_000 },
  )
})

test('every documented transition is caused by some event', () => {
  const taken = new Set<string>()
  const note = fc.property(position, event, (from, happened) => {
    const outcome = transition(from, happened)
    if (!isRefused(outcome)) taken.add(`${happened.type}: ${from.state} → ${outcome.state}`)
  })
  fc.assert(note, { numRuns: 5_000, seed: 1 })
  for (const [type, arrows] of Object.entries(EDGES)) {
    for (const arrow of arrows) assert.ok(taken.has(`${type}: ${arrow}`), `${type}: ${arrow}`)
  }
})

test('the attempt number never decreases and grows by at most one', () => {
  fc.assert(
    fc.property(position, event, (from, happened) => {
      const outcome = transition(from, happened)
      if (isRefused(outcome)) return
      assert.ok(outcome.attempt === from.attempt || outcome.attempt === from.attempt + 1)
    }),
  )
})

test('only the current fence can end an attempt, and only a running run has one', () => {
  fc.assert(
    fc.property(position, event, (from, happened) => {
      const outcome = transition(from, happened)
      if (isRefused(outcome) || happened.type !== 'ended') return
      assert.deepEqual([from.state, from.fence], ['running', happened.fence])
    }),
  )
})

test('a rejected event does not change the position', () => {
  fc.assert(
    fc.property(position, event, (from, happened) => {
      const before = structuredClone(from)
      transition(from, happened)
      assert.deepEqual(from, before)
    }),
  )
})

test('codes and states map to each other', () => {
  for (const state of STATES) assert.equal(stateOfCode(STATE_CODE[state]), state)
  assert.equal(new Set(Object.values(STATE_CODE)).size, STATES.length)
  for (const code of [-1, 8, 0.5, Number.NaN]) assert.throws(() => stateOfCode(code), RangeError)
})

test('exactly four states are final', () => {
  assert.deepEqual(STATES.filter(isFinal), ['succeeded', 'failed', 'cancelled', 'skipped'])
})
