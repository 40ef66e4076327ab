import assert from 'node:assert/strict'
import { test } from 'node:test'
import { publicId } from '../ids.ts'
import { evaluateNeeds, type NeedState, type WantedOutcome } from './needs.ts'

const table: [why: string, needs: [WantedOutcome, NeedState][], kind: string][] = [
  ['a run without needs may start', [], 'released'],
  ['waits for a run that has not ended', [['any', null]], 'waits'],
  ['ok accepts a success', [['ok', 'succeeded']], 'released'],
  ['a failure is not', [['ok', 'failed']], 'skipped'],
  ['nor is one that never ran', [['ok', 'skipped']], 'skipped'],
  ['notok accepts a failure', [['notok', 'failed']], 'released'],
  ['notok accepts a cancelled run', [['notok', 'cancelled']], 'released'],
  ['notok rejects a success', [['notok', 'succeeded']], 'skipped'],
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
    'does not wait if one need can no longer be met',
    [
      ['any', null],
      ['ok', 'failed'],
    ],
    'skipped',
  ],
  ['a deleted run can never meet a need', [['any', undefined]], 'skipped'],
]
for (const [why, needs, kind] of table) {
  test(why, () => {
    const wanted = needs.map(([wants], runId) => ({ runId, wants }))
    assert.equal(evaluateNeeds(wanted, (runId) => needs[runId]?.[1]).kind, kind)
  })
}

test('a skipped run names the run that caused it', () => {
  const verdict = evaluateNeeds([{ runId: 7, wants: 'ok' }], () => 'failed')
  assert.deepEqual(verdict, {
    kind: 'skipped',
    message: `${publicId('run', 7)} ended as failed`,
  })
})
