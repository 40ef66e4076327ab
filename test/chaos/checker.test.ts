// Each invariant is broken once by hand: the checker must report it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  both,
  cancelled,
  fault,
  brokenInvariants,
  MS,
  row,
  submit,
  type HistoryChange,
  withDump,
  withRun,
  withTruth,
  withoutTruth,
} from './valid-history.fixture.ts'
import { INVARIANTS, type Invariant } from './violation.ts'

const table: [why: string, invariant: Invariant, change: HistoryChange][] = [
  [
    'an acknowledged run is missing',
    'an acknowledged run exists',
    withDump(({ runs }) => ({ runs: runs.filter(({ run }) => run !== 'run_b') })),
  ],
  [
    'a refused run exists',
    'a refused run does not exist',
    withDump(({ runs, ends }) => ({
      runs: [...runs, row('run_e', 'e', 'cancelled', null)],
      ends: [...ends, { run: 'run_e', state: 'cancelled' }],
    })),
  ],
  [
    'one key became two runs',
    'a key is one run',
    withDump(({ runs, ends }) => ({
      runs: [...runs, row('run_g', 'b', 'cancelled', null)],
      ends: [...ends, { run: 'run_g', state: 'cancelled' }],
    })),
  ],
  [
    'one key was acknowledged as two runs',
    'a key is one run',
    ({ client }) => ({ client: [...client, ...submit('b', 'run_c', 9)] }),
  ],
  [
    'a run that was not submitted',
    'a run was submitted',
    withDump(({ runs, ends }) => ({
      runs: [...runs, row('run_x', 'x', 'cancelled', null)],
      ends: [...ends, { run: 'run_x', state: 'cancelled' }],
    })),
  ],
  ['a run still waits', 'a run ends', withRun('run_b', { state: 'blocked' })],
  [
    'a run was ended twice',
    'a run ends once',
    withDump(({ ends }) => ({ ends: [...ends, { run: 'run_a', state: 'failed' }] })),
  ],
  [
    'the state of a run differs from its recorded end',
    'a run ends once',
    withDump(({ ends }) => ({ ends: ends.map((end) => ({ ...end, state: 'failed' })) })),
  ],
  ['a lease remains', 'no work remains', withDump(() => ({ leftovers: { lease: 1 } }))],
  [
    'a result names a fence that never succeeded',
    'an outcome is what an attempt reported',
    withRun('run_a', { fence: 11, resultFence: 11 }),
  ],
  [
    'a result was stored under a later fence',
    'an outcome is what an attempt reported',
    withRun('run_a', { fence: 13 }),
  ],
  [
    'a failed run has a result',
    'an outcome is what an attempt reported',
    withRun('run_d', { resultFence: 41 }),
  ],
  [
    'a run has the failure of an attempt that did not fail',
    'an outcome is what an attempt reported',
    withRun('run_d', { cause: 'error' }),
  ],
  [
    'a run that does not exist was started',
    'a started run exists',
    withTruth('w1', 'run_y 51 START 60', 'run_y 51 END 61 stopped'),
  ],
  [
    'a run was started more often than its policy allows',
    'starts are bounded',
    both(
      withTruth('w1', 'run_a 9 START 5', 'run_a 9 END 6 stopped'),
      withTruth('w1', 'run_a 10 START 7', 'run_a 10 END 8 stopped'),
    ),
  ],
  [
    'a run was started, and the attempt forgotten',
    'a start is counted',
    withTruth('w1', 'run_a 10 START 5', 'run_a 10 END 6 stopped'),
  ],
  [
    'a success was accepted after the run had another',
    'an accepted outcome is kept',
    withTruth(
      'w3',
      'run_a 13 START 60',
      'run_a 13 END 70 succeeded',
      'run_a 13 ACCEPTED 71 succeeded',
    ),
  ],
  [
    'a success was accepted and counted as lost',
    'an accepted outcome is kept',
    withTruth('w2', 'run_d 41 END 54 succeeded', 'run_d 41 ACCEPTED 55 succeeded'),
  ],
  [
    'a failure was accepted and forgotten',
    'an accepted outcome is kept',
    withDump(() => ({ attempts: [] })),
  ],
  ['a verdict changed', 'a verdict is final', withTruth('w1', 'run_a 12 STALE 38 succeeded')],
  [
    'one fence was started twice',
    'a fence is one attempt',
    withTruth('w2', 'run_a 12 START 42', 'run_a 12 END 43 stopped'),
  ],
  ['an attempt has no end', 'an attempt ends', withoutTruth('run_c 31 END')],
  [
    'two attempts ran at once',
    'attempts do not overlap',
    withTruth('w2', 'run_a 10 START 5', 'run_a 10 END 12 stopped'),
  ],
  [
    'a worker overlapped while another worker was frozen',
    'attempts do not overlap',
    both(withTruth('w2', 'run_a 10 START 5', 'run_a 10 END 12 stopped'), ({ faults }) => ({
      faults: [...faults, fault('frozen', 'w1', 4), fault('thawed', 'w1', 5)],
    })),
  ],
  [
    'a worker overlapped before it was frozen',
    'attempts do not overlap',
    both(withTruth('w3', 'run_a 10 START 5', 'run_a 10 END 90 stopped'), ({ faults }) => ({
      faults: [...faults, fault('frozen', 'w3', 11), fault('thawed', 'w3', 80)],
    })),
  ],
  [
    'a run of at most one attempt had two',
    'at most once is at most once',
    withTruth('w1', 'run_d 42 START 60', 'run_d 42 END 61 stopped'),
  ],
  [
    'a delayed run was started early',
    'a run does not start early',
    ({ client }) => ({
      client: client.map((note) =>
        note.op === 'submit' && note.key === 'd' && note.traits
          ? { ...note, traits: { ...note.traits, dueNs: 150 * MS } }
          : note,
      ),
    }),
  ],
  [
    'a gate admitted two runs',
    'a gate is not exceeded',
    withTruth('w1', 'run_d 40 START 35', 'run_d 40 END 38 stopped'),
  ],
  ['a cancelled run succeeded', 'a cancel is not undone', cancelled('run_a', 'cancelled', 50)],
  ['a cancelling run failed', 'a cancel is not undone', cancelled('run_d', 'cancelling', 50)],
  [
    'a cancelled run was started later',
    'a cancel is not undone',
    withTruth('w1', 'run_b 21 START 9', 'run_b 21 END 10 stopped'),
  ],
  [
    'a server died by itself',
    'no process dies by itself',
    ({ faults }) => ({ faults: [...faults, fault('died', 'server-1.2', 60)] }),
  ],
]
for (const [why, invariant, change] of table) {
  test(`${why}: ${invariant}`, () => {
    const broken = brokenInvariants(change)
    assert.ok(broken.has(invariant), `only found: ${[...broken].join(', ') || 'nothing'}`)
  })
}

test('each invariant is broken by one of these histories', () => {
  const tested = new Set(table.map(([, invariant]) => invariant))
  assert.deepEqual(
    INVARIANTS.filter((invariant) => !tested.has(invariant)),
    [],
  )
})
