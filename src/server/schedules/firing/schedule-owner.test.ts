import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMinter } from '../../../core/ids.ts'
import { scheduleOwner } from './schedule-owner.ts'

const { mint } = createMinter({ slot: 3, floor: 0, now: () => 1_767_225_600_000, random: () => 0 })
const IDS = Array.from({ length: 9_000 }, mint)

test('nodes share schedules about evenly, whatever their order', () => {
  const nodes = [17, 18, 40]
  const counts = new Map<number | undefined, number>()
  for (const id of IDS) {
    const owner = scheduleOwner(id, nodes)
    assert.equal(scheduleOwner(id, nodes.toReversed()), owner)
    counts.set(owner, (counts.get(owner) ?? 0) + 1)
  }
  for (const node of nodes) {
    const share = counts.get(node) ?? 0
    assert.ok(share > 2_700 && share < 3_300, `${node} has ${share}`)
  }
})

test('when a node leaves, only its schedules move', () => {
  for (const id of IDS) {
    const before = scheduleOwner(id, [17, 18, 40])
    const after = scheduleOwner(id, [17, 40])
    if (before !== 18) assert.equal(after, before)
  }
})

test('without nodes there is no owner', () => {
  assert.equal(scheduleOwner(1, []), undefined)
})
