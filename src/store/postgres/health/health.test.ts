import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreError } from '../../port.ts'
import { createHealth } from './health.ts'
import { QueryFailed, toStoreError } from '../connection/store-errors.ts'

const CODES: [code: string, outcome: StoreError['outcome'], trouble: StoreError['trouble']][] = [
  ['53100', 'unavailable', 'full'],
  ['XX001', 'unavailable', 'damaged'],
  ['XX002', 'unavailable', 'damaged'],
  ['58030', 'unavailable', 'damaged'],
  ['XX000', 'unavailable', undefined],
  ['40001', 'unavailable', undefined],
  ['23505', 'refused', undefined],
]
for (const [code, outcome, trouble] of CODES) {
  test(`${code} of PostgreSQL is ${trouble ?? 'no store trouble'}`, () => {
    const failed = new QueryFailed({ message: 'it broke', code, severity: 'ERROR' }, false)
    const error = toStoreError(failed, false)
    assert.ok(error instanceof StoreError)
    assert.deepEqual([error.outcome, error.trouble], [outcome, trouble])
  })
}

test('damage is remembered until the next start, a full disk is not', () => {
  const health = createHealth('postgres://punctual:hunter22@db.example:5432/jobs')
  assert.equal(health.place, 'PostgreSQL at db.example:5432/jobs')
  health.note(new StoreError('unavailable', 'no space left', { trouble: 'full' }))
  health.requireSound()
  const damaged = new StoreError('unavailable', 'invalid page', { trouble: 'damaged' })
  health.note(damaged)
  health.note(new StoreError('unavailable', 'again', { trouble: 'damaged' }))
  assert.throws(() => health.requireSound(), damaged)
})
