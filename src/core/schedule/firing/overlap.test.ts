import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  decideOverlap,
  type OverlapDecision,
  needsGate,
  needsMemory,
  type Overlap,
} from './overlap.ts'

const queue = (most: number): Overlap => ({ kind: 'queue', most })
const TABLE: [why: string, overlap: Overlap, open: number, meeting: OverlapDecision][] = [
  ['nothing is open: a run', { kind: 'skip' }, 0, 'run'],
  ['nothing is open: nothing to replace', { kind: 'replace' }, 0, 'run'],
  ['nothing is open: nothing to wait for', queue(1), 0, 'run'],
  ['overlap is allowed', { kind: 'allow' }, 50, 'run'],
  ['one is open: no second run', { kind: 'skip' }, 1, 'skip'],
  ['one is open: it is replaced', { kind: 'replace' }, 1, 'replace'],
  ['one runs, and one may wait', queue(1), 1, 'wait'],
  ['one runs and one waits already', queue(1), 2, 'merge'],
  ['a longer queue', queue(3), 3, 'wait'],
  ['a longer queue that is full', queue(3), 4, 'merge'],
  ['a queue of length zero', queue(0), 1, 'merge'],
]
for (const [why, overlap, open, meeting] of TABLE) {
  test(why, () => assert.equal(decideOverlap(overlap, open), meeting))
}

test('a policy that limits runs remembers open ones, and a policy that queues has a gate', () => {
  assert.deepEqual(
    (['allow', 'skip', 'replace'] as const).map((kind) => needsGate({ kind })),
    [false, false, true],
  )
  assert.deepEqual([needsGate(queue(1)), needsMemory(queue(1))], [true, true])
  assert.deepEqual([needsMemory({ kind: 'allow' }), needsMemory({ kind: 'skip' })], [false, true])
})
