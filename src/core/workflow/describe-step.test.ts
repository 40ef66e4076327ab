import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sentenceOf, type StepStory } from './describe-step.ts'

const PLAIN: StepStory = {
  ...{ state: 'untouched', reason: null, message: null },
  ...{ flow: 'begun', waitsFor: [], mayWaitForMore: false, because: null, by: [], items: null },
}
const COUNTS = {
  ...{ total: 10, untouched: 4, running: 1, waiting: 0 },
  ...{ succeeded: 3, failed: 2, cancelled: 0, skipped: 0 },
}
const load = { name: 'load', state: 'failed' } as const
const tidy = { name: 'tidy', state: 'skipped' } as const

describe('a step in a sentence', () => {
  const TABLE: [story: Partial<StepStory>, sentence: string | null][] = [
    [{}, 'It is about to start.'],
    [{ waitsFor: ['a'] }, 'It waits for a.'],
    [{ waitsFor: ['a'], flow: 'waiting' }, 'The workflow has not begun.'],
    [{ flow: 'over' }, 'The workflow ended before it came to it.'],
    [{ waitsFor: ['a', 'b', 'c'] }, 'It waits for a, b and c.'],
    [{ waitsFor: ['a', 'b', 'c', 'd', 'e'] }, 'It waits for a, b, c and 2 more.'],
    [{ waitsFor: ['a', 'b', 'c', 'd'], mayWaitForMore: true }, 'It waits for a, b, c and others.'],
    [{ mayWaitForMore: true }, 'It waits for others.'],
    [{ state: 'waiting' }, 'It waits for somebody to approve it.'],
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
    [{ state: 'failed', reason: 'refused', message: 'No!' }, 'Somebody refused it: No!'],
    [{ state: 'failed', reason: 'expired' }, 'Nobody approved it in time.'],
    [{ state: 'skipped', reason: 'condition' }, 'Its `if` was false.'],
    [{ state: 'skipped', reason: 'operator' }, 'Somebody skipped it.'],
    [
      { state: 'skipped', reason: 'timeout' },
      'The workflow ran out of time before it could start.',
    ],
    [
      {
        ...{ state: 'skipped', reason: 'needs' },
        because: { when: 'all-succeeded', needs: [load], origins: [load] },
      },
      'All it needs has to succeed, and load failed.',
    ],
    [
      {
        ...{ state: 'skipped', reason: 'needs' },
        because: { when: 'all-succeeded', needs: [tidy], origins: [load] },
      },
      'All it needs has to succeed, and tidy was skipped, because load failed.',
    ],
    [
      {
        ...{ state: 'skipped', reason: 'needs' },
        because: { when: 'any-succeeded', needs: [], origins: [] },
      },
      'One of those it needs has to succeed, and it needs nothing.',
    ],
  ]
  for (const [story, sentence] of TABLE) {
    test(sentence ?? `nothing to say: ${story.state}`, () => {
      assert.equal(sentenceOf({ ...PLAIN, ...story }), sentence)
    })
  }
})
