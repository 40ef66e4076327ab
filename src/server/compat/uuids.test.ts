import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createJobUuids, createRunUuids } from './uuids.ts'

const here = createJobUuids('installation one')

test('a number becomes a UUID and comes back, whatever its size', () => {
  for (const id of [1, 2, 255, 65_536, 2 ** 31 - 1]) {
    const uuid = here.of(id)
    assert.match(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.equal(here.read(uuid), id)
    assert.equal(here.read(uuid.toUpperCase()), id)
  }
})

test('another installation gives out others, and does not know ours', () => {
  const there = createJobUuids('installation two')
  assert.notEqual(there.of(7), here.of(7))
  assert.equal(there.read(here.of(7)), undefined)
})

for (const text of [
  '',
  '7',
  'x'.repeat(36),
  '123e4567-e89b-12d3-a456-426614174000',
  'run_00000000001',
])
  test(`${text.slice(0, 40) || 'nothing'} is no job`, () => {
    assert.equal(here.read(text), undefined)
  })

test('an impossible job number is refused', () => {
  assert.equal(here.read(here.of(2 ** 31)), undefined)
})

test('a run has a UUID too, and it is never the UUID of a job', () => {
  const runs = createRunUuids('installation one')
  for (const id of [1, 7, 2 ** 31, 2 ** 48 + 5, Number.MAX_SAFE_INTEGER]) {
    assert.equal(runs.read(runs.of(id)), id)
    assert.equal(here.read(runs.of(id)), undefined)
    assert.equal(runs.read(here.of(id)), undefined)
  }
})

test('an id beyond all ids is refused', () => {
  const runs = createRunUuids('installation one')
  assert.equal(runs.read(runs.of(1).replace('-8000-000000000001', '-bfff-ffffffffffff')), undefined)
})
