import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RunState } from '../../../core/run/run-state.ts'
import type { StepRecord } from '../../port.ts'
import { ids } from '../fixture.ts'
import {
  type ContractWorkflowWorld,
  stepMark,
  transitionFrom,
  withWorkflows,
} from './workflow-fixture.ts'
import { onSharedStore, type OpenStore } from '../world.ts'

/**
 * Steps 0, 1 and 4 were reached and 1 has failed; step 2 fans out to five items, of which four have
 * begun.
 */
async function halfWay(world: ContractWorkflowWorld): Promise<number> {
  const { workflow, runs } = await world.beginWith(2)
  const failed = { state: 'failed', item: 0 } as const
  await world.advance(
    transitionFrom(workflow, {
      marks: [
        stepMark(2, 'running', { count: 5 }),
        ...[3, 1, 0].map((item) => ({ ...stepMark(2, 'failed'), ...failed, item })),
        { ...stepMark(2, 'succeeded'), item: 2 },
        stepMark(4, 'waiting', { message: 'may we?' }),
      ],
    }),
  )
  // Claimed and ended, without a transition since: the failure is unprocessed.
  for (const lease of await world.claim(2)) {
    if (lease.runId === runs[1]?.id) await world.end(lease, { to: 'failed', cause: 'exit' })
  }
  return workflow.runId
}

const placesOf = (steps: readonly StepRecord[]) => steps.map(({ step, item }) => [step, item])

export function dirtyWorkflowsContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)
  const inWorkflow = (body: (world: ContractWorkflowWorld, workflowId: number) => Promise<void>) =>
    inWorld(async (base) => {
      const world = await withWorkflows(base)
      await body(world, await halfWay(world))
    })

  test(
    'a list of runs can exclude the steps of workflows',
    inWorkflow(async ({ store, project, job, start }, workflowId) => {
      const alone = await start({})
      const list = async (state: RunState | null, withoutSteps: boolean, jobId: number | null) => {
        const page = { projectId: project, before: Number.MAX_SAFE_INTEGER, limit: 10 }
        return ids(await store.listRuns({ ...page, state, withoutSteps, jobId }))
      }
      assert.equal((await list(null, false, null)).length, 4)
      assert.deepEqual(await list(null, true, null), [alone.runId, workflowId])
      assert.deepEqual(await list('running', true, null), [alone.runId, workflowId])
      assert.equal((await list('failed', false, null)).length, 1)
      assert.deepEqual(await list('failed', true, null), [])
      assert.deepEqual(await list(null, true, job), [alone.runId, workflowId])
    }),
  )

  test(
    'steps are looked up by their index, without their items',
    inWorkflow(async ({ store, steps: all }, workflowId) => {
      const found = await store.stepsAt({ workflowId, steps: [4, 3, 2, 1, 99] })
      const known = await all(workflowId)
      assert.deepEqual(
        found.toSorted((a, b) => a.step - b.step),
        known.filter(({ step, item }) => item === -1 && step > 0),
      )
      assert.deepEqual(await store.stepsAt({ workflowId, steps: [] }), [])
      assert.deepEqual(await store.stepsAt({ workflowId: workflowId + 1, steps: [1] }), [])
    }),
  )

  test(
    'steps are read from an index on, all of them or those in a state, unprocessed ends included',
    inWorkflow(async ({ store }, workflowId) => {
      const from = async (place: number, state: StepRecord['state'] | null, limit = 10) =>
        placesOf(await store.stepsFrom({ workflowId, from: place, state, limit })).map(
          ([step]) => step,
        )
      assert.deepEqual(await from(0, null), [0, 1, 2, 4])
      assert.deepEqual(await from(1, null, 2), [1, 2])
      assert.deepEqual(await from(3, null), [4])
      assert.deepEqual(await from(0, 'running'), [0, 2])
      assert.deepEqual(await from(1, 'running', 1), [2])
      assert.deepEqual(await from(0, 'failed'), [1])
      assert.deepEqual(await from(0, 'waiting'), [4])
      assert.deepEqual(await from(0, 'succeeded'), [])
      assert.deepEqual(await from(5, null), [])
    }),
  )

  test(
    'items are counted by step, and the first that failed are found',
    inWorkflow(async ({ store }, workflowId) => {
      const counts = await store.countItems({ workflowId, steps: [0, 2] })
      assert.deepEqual(
        counts.map(({ step, state, count }) => `${step} ${state} ${count}`).toSorted(),
        ['2 failed 3', '2 succeeded 1'],
      )
      const failed = await store.failedItems({ workflowId, steps: [2, 1], each: 2 })
      assert.deepEqual(placesOf(failed), [
        [2, 0],
        [2, 1],
      ])
    }),
  )
}
