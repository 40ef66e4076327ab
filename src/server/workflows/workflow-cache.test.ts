import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../core/expression/expression.ts'
import type { HeldFlow } from './loaded-workflow.ts'
import { createShelf } from './workflow-cache.ts'
import { createStepRuns } from './step-runs.ts'

function flowOf(runId: number, more: { input?: Json; items?: number } = {}): HeldFlow {
  const runs = createStepRuns(1)
  if (more.items !== undefined) {
    runs.note({ step: 0, item: -1 }, { state: 'running', count: more.items })
  }
  const flow = {
    ...{ record: { runId }, compiled: { graph: { size: 1 } }, runs },
    ...{ input: more.input ?? null, lists: new Map<number, readonly Json[]>() },
  }
  return flow as unknown as HeldFlow
}

/** Which of so many flows are still known after all of them were put and have nothing to do. */
function kept(flows: readonly HeldFlow[]): number {
  const shelf = createShelf()
  for (const flow of flows) {
    shelf.put(flow)
    shelf.takeRestive(1)
  }
  shelf.put(flowOf(0))
  return flows.filter(({ record }) => shelf.get(record.runId)).length
}

const many = (count: number, more: Parameters<typeof flowOf>[1]) =>
  Array.from({ length: count }, (_, nth) => flowOf(nth + 1, more))

test('small flows are all remembered', () => {
  assert.equal(kept(many(1_000, {})), 1_000)
})

test('items count', () => {
  const left = kept(many(100, { items: 50_000 }))
  assert.ok(left > 0 && left < 30, String(left))
})

test('so does a large input', () => {
  const left = kept(many(100, { input: { text: 'x'.repeat(4_000_000) } }))
  assert.ok(left > 0 && left < 30, String(left))
})

test('and a list that was read since, once there is something to do again', () => {
  const shelf = createShelf()
  const flows = many(100, {})
  for (const flow of flows) shelf.put(flow)
  shelf.takeRestive(100)
  const list = Array.from({ length: 50_000 }, (_, nth) => nth)
  for (const flow of flows) {
    flow.lists.set(0, list)
    shelf.stir(flow.record.runId)
    shelf.takeRestive(1)
  }
  shelf.put(flowOf(0))
  const left = flows.filter(({ record }) => shelf.get(record.runId)).length
  assert.ok(left > 0 && left < 30, String(left))
})

test('one that is larger than all may be together is remembered while there is no other', () => {
  const shelf = createShelf()
  shelf.put(flowOf(1, { items: 2_000_000 }))
  shelf.takeRestive(1)
  shelf.takeRestive(1)
  assert.ok(shelf.get(1))
  shelf.put(flowOf(2))
  assert.ok(!shelf.get(1) && shelf.get(2))
})
