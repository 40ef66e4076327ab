import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { describeStepState, type StepSituation } from './describe-step.ts'

const PLAIN: StepSituation = {
  state: 'untouched',
  reason: null,
  message: null,
  workflow: 'begun',
  waitsFor: [],
  mayWaitForMore: false,
  because: null,
  by: [],
  items: null,
}
const COUNTS = {
  total: 10,
  untouched: 4,
  running: 1,
  waiting: 0,
  succeeded: 3,
  failed: 2,
  cancelled: 0,
  skipped: 0,
}
const load = { name: 'load', state: 'failed' } as const
const tidy = { name: 'tidy', state: 'skipped' } as const

describe('describeStepState', () => {
  const TABLE: [situation: Partial<StepSituation>, sentence: string | null][] = [
    [{}, 'It is about to start.'],
    [{ waitsFor: ['a'] }, 'It waits for a.'],
    [{ waitsFor: ['a'], workflow: 'waiting' }, 'The workflow has not begun.'],
    [{ workflow: 'over' }, 'The workflow ended before reaching it.'],
    [{ waitsFor: ['a', 'b', 'c'] }, 'It waits for a, b and c.'],
    [{ waitsFor: ['a', 'b', 'c', 'd', 'e'] }, 'It waits for a, b, c and 2 more.'],
    [
      { waitsFor: ['a', 'b', 'c', 'd'], mayWaitForMore: true },
      'It waits for a, b, c and other steps.',
    ],
    [{ mayWaitForMore: true }, 'It waits for other steps.'],
    [{ state: 'waiting' }, 'It waits for a user to approve it.'],
    [
      { state: 'waiting', by: ['ada', 'bob'], message: 'Publish it?' },
      'It waits for ada or bob to approve it: Publish it?',
    ],
    [{ state: 'running' }, null],
    [{ state: 'running', items: COUNTS }, '6 of 10 items have begun.'],
    [{ state: 'succeeded' }, null],
    [{ state: 'succeeded', message: 'fine with me' }, 'fine with me.'],
    [{ state: 'failed' }, null],
    [{ state: 'failed', items: COUNTS }, '2 of 10 items failed.'],
    [{ state: 'failed', reason: 'expression', message: 'x' }, 'It could not be started: x.'],
    [{ state: 'failed', reason: 'submission', message: 'x' }, 'Its run was not accepted: x.'],
    [{ state: 'failed', reason: 'refused', message: 'No!' }, 'Its approval was refused: No!'],
    [{ state: 'failed', reason: 'expired' }, 'It was not approved in time.'],
    [{ state: 'skipped', reason: 'condition' }, 'Its `if` was false.'],
    [{ state: 'skipped', reason: 'operator' }, 'A user skipped it.'],
    [
      { state: 'skipped', reason: 'timeout' },
      'The workflow ran out of time before it could start.',
    ],
    [
      {
        state: 'skipped',
        reason: 'needs',
        because: { when: 'all-succeeded', needs: [load], origins: [load] },
      },
      'All steps it needs must succeed, and load failed.',
    ],
    [
      {
        state: 'skipped',
        reason: 'needs',
        because: { when: 'all-succeeded', needs: [tidy], origins: [load] },
      },
      'All steps it needs must succeed, and tidy was skipped, because load failed.',
    ],
    [
      {
        state: 'skipped',
        reason: 'needs',
        because: { when: 'any-succeeded', needs: [], origins: [] },
      },
      'At least one step it needs must succeed, and it needs no steps.',
    ],
  ]
  for (const [situation, sentence] of TABLE) {
    test(sentence ?? `no sentence: ${situation.state}`, () => {
      assert.equal(describeStepState({ ...PLAIN, ...situation }), sentence)
    })
  }
})
