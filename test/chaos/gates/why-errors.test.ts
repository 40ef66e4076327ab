// Shows that a wrong answer to `why` is detected, both while nothing changes and during the load.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WireWhy } from '../../../src/core/wire/views.ts'
import type { RunSpec } from './run-spec.ts'
import { idleInvariants } from './idle-invariants.ts'
import { findWhyErrors } from './why-errors.ts'

const runSpec = (...keys: string[]): RunSpec => ({ keys, lastMs: 1, slowFirstMs: 0, failFirst: 0 })
const RUN_SPECS = new Map([
  ['run_a', runSpec('red')],
  ['run_b', runSpec('red', 'blue')],
  ['run_c', runSpec('blue')],
  ['run_d', runSpec('blue')],
])
/** They hold red and blue; b waits for red, d for blue. */
const READY = ['run_a', 'run_c']

function blocked(run: string, key: string, holder: string, fix = holder): WireWhy {
  return {
    run,
    state: 'blocked',
    code: 'key_taken',
    progress: null,
    sentence: `It has waited 3s: 1 run is allowed at once with the concurrency key ${key}.`,
    details: [`Held by ${holder}.`],
    fixes: [`punctual why ${fix}`],
  }
}

const UNSERVED: WireWhy = {
  run: 'run_a',
  state: 'ready',
  code: 'no_worker',
  progress: null,
  sentence: 'It has waited 3s: no worker is connected that serves this project.',
  details: [],
  fixes: ['punctual worker --server URL'],
}

test('correct answers have no errors, while nothing changes and during the load', () => {
  const answers = [UNSERVED, blocked('run_b', 'red', 'run_a'), blocked('run_d', 'blue', 'run_c')]
  assert.deepEqual(idleInvariants({ runSpecs: RUN_SPECS, ready: READY, answers }), [])
  for (const why of answers) assert.deepEqual(findWhyErrors(why, RUN_SPECS), [])
})

const WRONG: readonly [what: string, why: WireWhy][] = [
  ['names a key that is not its own', blocked('run_d', 'red', 'run_a')],
  ['names a run that does not hold the key', blocked('run_b', 'red', 'run_c')],
  ['names the run itself', blocked('run_b', 'red', 'run_b')],
  ['names no holder', { ...blocked('run_b', 'red', 'run_a'), details: [] }],
  ['suggests to look at another run', blocked('run_b', 'red', 'run_a', 'run_d')],
  ['suggests nothing', { ...blocked('run_b', 'red', 'run_a'), fixes: [] }],
  ['has a reason of another state', { ...UNSERVED, run: 'run_b', state: 'blocked' }],
]
for (const [what, why] of WRONG) {
  test(`an error is reported when an answer ${what}`, () => {
    assert.notDeepEqual(findWhyErrors(why, RUN_SPECS), [])
    assert.notDeepEqual(idleInvariants({ runSpecs: RUN_SPECS, ready: READY, answers: [why] }), [])
  })
}

test('while nothing changes, a holder that is itself waiting is an error', () => {
  const answers = [blocked('run_d', 'blue', 'run_b')]
  assert.notDeepEqual(idleInvariants({ runSpecs: RUN_SPECS, ready: READY, answers }), [])
})

test('while nothing changes, two holders of a key are reported, and a free key with runs waiting', () => {
  const answers: WireWhy[] = []
  assert.match(
    idleInvariants({ runSpecs: RUN_SPECS, ready: [...READY, 'run_d'], answers }).join('\n'),
    /run_c and run_d both have blue/,
  )
  assert.match(
    idleInvariants({ runSpecs: RUN_SPECS, ready: ['run_a'], answers }).join('\n'),
    /run_c waits although its keys are free/,
  )
})
