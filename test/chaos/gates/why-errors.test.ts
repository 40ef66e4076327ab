// Proof that a wrong answer to "why" would be noticed, in a crowd that stands still and in one that moves.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WireWhy } from '../../../src/core/wire/views.ts'
import type { Errand } from './run-spec.ts'
import { quietLaws } from './idle-invariants.ts'
import { doubtsAbout } from './why-errors.ts'

const errand = (...keys: string[]): Errand => ({ keys, lastMs: 1, lingerMs: 0, failFirst: 0 })
const ERRANDS = new Map([
  ['run_a', errand('red')],
  ['run_b', errand('red', 'blue')],
  ['run_c', errand('blue')],
  ['run_d', errand('blue')],
])
/** They hold red and blue; b waits for the one, d for the other. */
const READY = ['run_a', 'run_c']

function blocked(run: string, key: string, holder: string, fix = holder): WireWhy {
  return {
    ...{ run, state: 'blocked', code: 'key_taken', progress: null },
    sentence: `It has waited 3s: 1 run is allowed at once with the concurrency key ${key}.`,
    details: [`Held by ${holder}.`],
    fixes: [`punctual why ${fix}`],
  }
}

const UNSERVED: WireWhy = {
  ...{ run: 'run_a', state: 'ready', code: 'no_worker', progress: null },
  sentence: 'It has waited 3s: no worker is connected that serves this project.',
  details: [],
  fixes: ['punctual worker --server URL'],
}

test('right answers, while nothing moves and while everything does', () => {
  const answers = [UNSERVED, blocked('run_b', 'red', 'run_a'), blocked('run_d', 'blue', 'run_c')]
  assert.deepEqual(quietLaws({ errands: ERRANDS, ready: READY, answers }), [])
  for (const why of answers) assert.deepEqual(doubtsAbout(why, ERRANDS), [])
})

const WRONG: readonly [what: string, why: WireWhy][] = [
  ['names a key that is not its own', blocked('run_d', 'red', 'run_a')],
  ['names somebody who does not have the key', blocked('run_b', 'red', 'run_c')],
  ['names the run itself', blocked('run_b', 'red', 'run_b')],
  ['names nobody', { ...blocked('run_b', 'red', 'run_a'), details: [] }],
  ['advises to look at somebody else', blocked('run_b', 'red', 'run_a', 'run_d')],
  ['has no advice', { ...blocked('run_b', 'red', 'run_a'), fixes: [] }],
  ['has a reason of another state', { ...UNSERVED, run: 'run_b', state: 'blocked' }],
]
for (const [what, why] of WRONG) {
  test(`it is noticed when an answer ${what}`, () => {
    assert.notDeepEqual(doubtsAbout(why, ERRANDS), [])
    assert.notDeepEqual(quietLaws({ errands: ERRANDS, ready: READY, answers: [why] }), [])
  })
}

test('while nothing moves it is also noticed when the holder is one of those who wait', () => {
  const answers = [blocked('run_d', 'blue', 'run_b')]
  assert.notDeepEqual(quietLaws({ errands: ERRANDS, ready: READY, answers }), [])
})

test('while nothing moves it is noticed when two have a key, or nobody has it who could', () => {
  const answers: WireWhy[] = []
  assert.match(
    quietLaws({ errands: ERRANDS, ready: [...READY, 'run_d'], answers }).join('\n'),
    /run_c and run_d both have blue/,
  )
  assert.match(
    quietLaws({ errands: ERRANDS, ready: ['run_a'], answers }).join('\n'),
    /run_c waits for nobody/,
  )
})
