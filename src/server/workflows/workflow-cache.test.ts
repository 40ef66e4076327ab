import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../core/expression/expression.ts'
import type { LoadedWorkflow } from './loaded-workflow.ts'
import { createWorkflowCache } from './workflow-cache.ts'
import { createStepRuns } from './step-runs.ts'

function workflowOf(runId: number, more: { input?: Json; items?: number } = {}): LoadedWorkflow {
  const runs = createStepRuns(1)
  if (more.items !== undefined) {
    runs.note({ step: 0, item: -1 }, { state: 'running', count: more.items })
  }
  const workflow = {
    record: { runId },
    compiled: { graph: { size: 1 } },
    runs,
    input: more.input ?? null,
    lists: new Map<number, readonly Json[]>(),
  }
  return workflow as unknown as LoadedWorkflow
}

/** The number of workflows that remain after all were put and have nothing to do. */
function kept(workflows: readonly LoadedWorkflow[]): number {
  const cache = createWorkflowCache()
  for (const workflow of workflows) {
    cache.put(workflow)
    cache.takeDirty(1)
  }
  cache.put(workflowOf(0))
  return workflows.filter(({ record }) => cache.get(record.runId)).length
}

const many = (count: number, more: Parameters<typeof workflowOf>[1]) =>
  Array.from({ length: count }, (_, nth) => workflowOf(nth + 1, more))

test('small workflows all stay cached', () => {
  assert.equal(kept(many(1_000, {})), 1_000)
})

test('items count', () => {
  const left = kept(many(100, { items: 50_000 }))
  assert.ok(left > 0 && left < 30, String(left))
})

test('a large input counts', () => {
  const left = kept(many(100, { input: { text: 'x'.repeat(4_000_000) } }))
  assert.ok(left > 0 && left < 30, String(left))
})

test('a list that was read later counts, once the workflow is dirty again', () => {
  const cache = createWorkflowCache()
  const workflows = many(100, {})
  for (const workflow of workflows) cache.put(workflow)
  cache.takeDirty(100)
  const list = Array.from({ length: 50_000 }, (_, nth) => nth)
  for (const workflow of workflows) {
    workflow.lists.set(0, list)
    cache.markDirty(workflow.record.runId)
    cache.takeDirty(1)
  }
  cache.put(workflowOf(0))
  const left = workflows.filter(({ record }) => cache.get(record.runId)).length
  assert.ok(left > 0 && left < 30, String(left))
})

test('a workflow larger than the whole cache stays while it is the only one', () => {
  const cache = createWorkflowCache()
  cache.put(workflowOf(1, { items: 2_000_000 }))
  cache.takeDirty(1)
  cache.takeDirty(1)
  assert.ok(cache.get(1))
  cache.put(workflowOf(2))
  assert.ok(!cache.get(1) && cache.get(2))
})
