import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WireWorker } from '../../core/wire/views.ts'
import { describeExecution } from './describe-execution.ts'

/** What `doctor` prints about a worker with this kind of secret files. */
function lineFor(kind: string | undefined): string {
  const execution = { launcher: 'native', containment: 'group', limits: [], secret_files: kind }
  const worker = { name: 'w', users: [], executors: ['shell'], execution }
  return describeExecution([worker as unknown as WireWorker]).join()
}

test('doctor prints where secret files are and what deletes them', () => {
  const deleted = 'the launcher deletes them, or the next worker if both were killed'
  for (const [kind, says] of [
    ['private', 'in memory that only their attempt can read and that is freed when it ends'],
    ['memory', `in memory; ${deleted}`],
    ['disk', `on a disk; ${deleted}`],
  ] as const) {
    assert.ok(lineFor(kind).endsWith(`; files of secrets: ${says}`), lineFor(kind))
  }
})

test('a worker that does not report where its secret files are gets no such line', () => {
  for (const kind of [undefined, 'of-a-later-version'])
    assert.doesNotMatch(lineFor(kind), /secrets/)
})
