// What must not be called a violation, however odd it looks.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { check } from './checker.ts'
import { readTruth } from './history.ts'
import {
  both,
  fault,
  lawful,
  lawsBroken,
  row,
  type Change,
  withDump,
  withFrozen,
  withLost,
  withRun,
  withTruth,
} from './valid-history.fixture.ts'

const table: [why: string, change: Change][] = [
  ['the history as it is', () => ({})],
  [
    'an unknown submission that turns out to exist',
    withDump(({ runs, ends }) => ({
      runs: [...runs, row('run_f', 'f', 'cancelled', null)],
      ends: [...ends, { run: 'run_f', state: 'cancelled' }],
    })),
  ],
  [
    'a key that was unknown first and acknowledged then',
    ({ client }) => ({
      client: [
        { op: 'submit', phase: 'invoke', call: 9, atNs: 0, key: 'a', traits: {} },
        { op: 'submit', phase: 'info', call: 9, atNs: 0, key: 'a' },
        ...client,
      ],
    }),
  ],
  [
    'a late success that is told it is stale',
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
    'an attempt that its worker began and handed back, and the first answer was lost',
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
    'a cancelling run that succeeded all the same',
    ({ client }) => ({
      client: [
        ...client,
        { op: 'cancel', phase: 'ok', call: 8, atNs: 1, run: 'run_a', state: 'cancelling' },
      ],
    }),
  ],
]
for (const [why, change] of table) {
  test(why, () => assert.deepEqual([...lawsBroken(change)], []))
}

test('half a line of a killed process is nobody', () => {
  const [whole, ...more] = readTruth('w1', 'run_a 1 START 5 -\nrun_a 1 EN')
  assert.equal(whole?.what, 'START')
  assert.deepEqual(more, [])
})

test('an overlap of a frozen worker is counted', () => {
  const frozen = [fault('frozen', 'w3', 6), fault('thawed', 'w3', 80)]
  const { truth } = {
    ...lawful,
    ...withTruth('w3', 'run_a 10 START 5', 'run_a 10 END 90 stopped')(lawful),
  }
  assert.equal(check({ ...lawful, truth, faults: [...lawful.faults, ...frozen] }).zombies, 2)
})
