import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_BATCH } from '../../contract/fixture.ts'
import { newRun } from '../contract/rows.ts'
import { openEngine } from '../store.ts'

test('the sweep corrects a gate that counts runs that do not exist, and admits again', () => {
  let nowMs = 1_000
  const { operations, raw } = openEngine({ path: ':memory:', now: () => nowMs })
  const [gate = 0] = operations.internGates([{ projectId: 1, name: 'door', capacity: 1 }])
  raw.prepare('UPDATE gate SET held = 3').run()
  const run = newRun(1, { gates: [gate] })
  const { submits } = operations.tick({ ...EMPTY_BATCH, node: 1, submits: [run] })
  assert.deepEqual(submits, [{ kind: 'gated' }])

  nowMs += 60_000
  const { miscounted, lanes } = operations.recheck({ limit: 10, recheckMs: 1_000 })
  assert.deepEqual([miscounted, lanes], [[gate], [1]])
  assert.equal(raw.prepare('SELECT held FROM gate').pluck().get(), 1)
})
