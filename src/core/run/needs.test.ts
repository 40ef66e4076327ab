import assert from 'node:assert/strict'
import { test } from 'node:test'
import { publicId } from '../ids.ts'
import { judgeNeeds, type NeedState, type Wanted } from './needs.ts'

const table: [why: string, needs: [Wanted, NeedState][], kind: string][] = [
  ['who needs nothing may start', [], 'released'],
  ['what has not ended is waited for', [['any', null]], 'waits'],
  ['a success is what ok asks for', [['ok', 'succeeded']], 'released'],
  ['a failure is not', [['ok', 'failed']], 'skipped'],
  ['nor is one that never ran', [['ok', 'skipped']], 'skipped'],
  ['a failure is what notok asks for', [['notok', 'failed']], 'released'],
  ['a cancelled run has not gone well either', [['notok', 'cancelled']], 'released'],
  ['a success is not what notok asks for', [['notok', 'succeeded']], 'skipped'],
  ['any end will do for any', [['any', 'cancelled']], 'released'],
  [
    'all of them have to end',
    [
      ['ok', 'succeeded'],
      ['any', null],
    ],
    'waits',
  ],
  [
    'what cannot be met any more need not be waited for',
    [
      ['any', null],
      ['ok', 'failed'],
    ],
    'skipped',
  ],
  ['what is forgotten can never be met', [['any', undefined]], 'skipped'],
]
for (const [why, needs, kind] of table) {
  test(why, () => {
    const wanted = needs.map(([wants], runId) => ({ runId, wants }))
    assert.equal(judgeNeeds(wanted, (runId) => needs[runId]?.[1]).kind, kind)
  })
}

test('who is skipped is told because of whom', () => {
  const verdict = judgeNeeds([{ runId: 7, wants: 'ok' }], () => 'failed')
  assert.deepEqual(verdict, {
    kind: 'skipped',
    message: `${publicId('run', 7)} ended as failed`,
  })
})
