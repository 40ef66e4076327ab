import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FireTimes } from './firing-plan.ts'
import { rewind } from './rewind.ts'

const MINUTE = 60_000
/** Trusted time, after the clock was set back. */
const NOW = 1_000 * MINUTE + 30_000
const AHEAD = NOW + 60 * MINUTE

function every(ms: number, { jitterMs = 0, endAt = Infinity } = {}): FireTimes {
  return {
    afterFinish: null,
    next(after) {
      const at = (Math.floor(after / ms) + 1) * ms
      return at <= endAt ? at : null
    },
    jitterOf: () => jitterMs,
  }
}
const afterFinish: FireTimes = {
  afterFinish: MINUTE,
  next: (after) => after + MINUTE,
  jitterOf: () => 0,
}

type Looked = Parameters<typeof rewind>[0]
type Next = Looked['next']

const next = (nominalAt: number | null, checkAt: number | null = nominalAt): Next => ({
  nominalAt,
  checkAt,
})
const REAL_NEXT = 1_001 * MINUTE

const CASES: readonly [
  why: string,
  given: Partial<Looked>,
  expected: Next | null,
  times?: FireTimes,
][] = [
  ['one in the present stays as it is', {}, null],
  [
    'one that fired ahead comes to the next real time',
    { next: next(AHEAD + MINUTE), lastNominalAt: AHEAD },
    next(REAL_NEXT),
  ],
  [
    'with its jitter',
    { next: next(AHEAD + MINUTE), lastNominalAt: AHEAD },
    next(REAL_NEXT, REAL_NEXT + 7_000),
    every(MINUTE, { jitterMs: 7_000 }),
  ],
  [
    'a schedule that ended while the clock was ahead continues',
    { next: next(null), lastNominalAt: AHEAD },
    next(REAL_NEXT),
    every(MINUTE, { endAt: AHEAD }),
  ],
  [
    'one whose end is past stays at its end',
    { next: next(null), lastNominalAt: AHEAD },
    next(null),
    every(MINUTE, { endAt: NOW - MINUTE }),
  ],
  [
    'one that was written ahead is counted from now',
    { next: next(AHEAD + MINUTE), lastNominalAt: null, updatedAt: AHEAD },
    next(REAL_NEXT),
  ],
  [
    'a time that lies ahead by its rule is no reason',
    { next: next(AHEAD), lastNominalAt: NOW - MINUTE },
    null,
    every(AHEAD),
  ],
  [
    'a check that waits for a future time is made at that time',
    { next: next(REAL_NEXT, AHEAD), lastNominalAt: NOW - MINUTE },
    next(REAL_NEXT),
  ],
  [
    'or now, if its time has come',
    { next: next(NOW - 30_000, AHEAD), lastNominalAt: NOW - 90_000 },
    next(NOW - 30_000, NOW),
  ],
  [
    'one that waits for its run to end, and fired ahead, is looked at now',
    { next: next(null, AHEAD), lastNominalAt: AHEAD },
    next(null, NOW),
    afterFinish,
  ],
  [
    'one that waits for its run to end is looked at now',
    { next: next(null, AHEAD), lastNominalAt: NOW - MINUTE },
    next(null, NOW),
    afterFinish,
  ],
  [
    'one whose run had ended ahead comes a wait after now',
    { next: next(AHEAD + MINUTE), lastNominalAt: AHEAD },
    next(NOW + MINUTE),
    afterFinish,
  ],
  [
    'a paused one that fired ahead is rewound and stays paused',
    { next: next(AHEAD, null), lastNominalAt: AHEAD - MINUTE, pause: { resumedAt: null } },
    next(REAL_NEXT, null),
  ],
  [
    'one that is paused until a time is looked at then',
    { next: next(REAL_NEXT, AHEAD), lastNominalAt: NOW - MINUTE, pause: { resumedAt: null } },
    null,
  ],
  [
    'one that was resumed is not paused',
    { next: next(REAL_NEXT, AHEAD), lastNominalAt: NOW - MINUTE, pause: { resumedAt: NOW - 1 } },
    next(REAL_NEXT),
  ],
  ['one that has ended stays at its end', { next: next(null), lastNominalAt: NOW - 1 }, null],
]

for (const [why, given, expected, times = every(MINUTE)] of CASES) {
  test(`clock set back: ${why}`, () => {
    const schedule = {
      next: next(REAL_NEXT),
      lastNominalAt: NOW - 30_000,
      updatedAt: 1,
      pause: null,
    }
    assert.deepEqual(rewind({ ...schedule, ...given }, times, NOW), expected)
  })
}
