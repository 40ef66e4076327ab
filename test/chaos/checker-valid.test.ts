// Histories that look odd but are correct: the checker must not report a violation.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { check } from './checker.ts'
import { readTruth } from './history.ts'
import {
  both,
  fault,
  validHistory,
  brokenInvariants,
  row,
  type HistoryChange,
  withDump,
  withFrozen,
  withLost,
  withRun,
  withTruth,
} from './valid-history.fixture.ts'

const table: [why: string, change: HistoryChange][] = [
  ['the correct history', () => ({})],
  [
    'an unknown submission that turns out to exist',
    withDump(({ runs, ends }) => ({
      runs: [...runs, row('run_f', 'f', 'cancelled', null)],
      ends: [...ends, { run: 'run_f', state: 'cancelled' }],
    })),
  ],
  [
    'a key that was unknown first and acknowledged later',
    ({ client }) => ({
      client: [
        { op: 'submit', phase: 'invoke', call: 9, atNs: 0, key: 'a', traits: {} },
        { op: 'submit', phase: 'info', call: 9, atNs: 0, key: 'a' },
        ...client,
      ],
    }),
  ],
  [
    'a late success that is answered as stale',
    both(
      withTruth('w3', 'run_a 10 START 5', 'run_a 10 END 8 succeeded', 'run_a 10 STALE 9 succeeded'),
      withLost('run_a', 10),
    ),
  ],
  [
    'an overlap with a worker that was frozen',
    both(
      withTruth('w3', 'run_a 10 START 5', 'run_a 10 END 90 stopped'),
      both(withLost('run_a', 10), withFrozen('w3', 6, 80)),
    ),
  ],
  [
    'a gate entered while a frozen worker had not left it',
    both(
      withTruth('w3', 'run_c 30 START 5', 'run_c 30 END 60 stopped'),
      both(withLost('run_c', 30), withFrozen('w3', 6, 55)),
    ),
  ],
  [
    'an attempt given back twice',
    withTruth('w1', 'run_a 10 ACCEPTED 4 given_back', 'run_a 10 STALE 5 given_back'),
  ],
  [
    'an attempt that was started and given back, with the first answer lost',
    withTruth('w1', 'run_a 10 START 5', 'run_a 10 END 6 stopped', 'run_a 10 STALE 8 given_back'),
  ],
  [
    'a failure that a cancel turned into a cancellation',
    both(
      withRun('run_b', { fence: 21 }),
      withTruth('w1', 'run_b 21 START 3', 'run_b 21 END 4 failed', 'run_b 21 ACCEPTED 5 failed'),
    ),
  ],
  [
    'a cancelling run that still succeeded',
    ({ client }) => ({
      client: [
        ...client,
        { op: 'cancel', phase: 'ok', call: 8, atNs: 1, run: 'run_a', state: 'cancelling' },
      ],
    }),
  ],
]
for (const [why, change] of table) {
  test(why, () => assert.deepEqual([...brokenInvariants(change)], []))
}

test('half a line from a killed process is ignored', () => {
  const [whole, ...more] = readTruth('w1', 'run_a 1 START 5 -\nrun_a 1 EN')
  assert.equal(whole?.what, 'START')
  assert.deepEqual(more, [])
})

test('an overlap of a frozen worker is counted', () => {
  const frozen = [fault('frozen', 'w3', 6), fault('thawed', 'w3', 80)]
  const { truth } = {
    ...validHistory,
    ...withTruth('w3', 'run_a 10 START 5', 'run_a 10 END 90 stopped')(validHistory),
  }
  assert.equal(
    check({ ...validHistory, truth, faults: [...validHistory.faults, ...frozen] }).zombies,
    2,
  )
})
