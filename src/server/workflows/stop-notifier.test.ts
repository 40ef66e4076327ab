import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVirtualClock } from '../../../test/support/virtual-clock.ts'
import type { LoadedWorkflow } from './loaded-workflow.ts'
import { STOP_REMINDER_MS } from './prepare-transition.ts'
import { createRefusedWorkflows } from './refused-workflows.ts'
import { createStopNotifier } from './stop-notifier.ts'

const HOUR_MS = 3_600_000

/** A workflow that is being stopped, with one running step. */
function stoppedWorkflow(): LoadedWorkflow {
  return {
    stop: 'cancelled',
    stopNotifiedMono: null,
    record: { projectId: 1 },
    progress: { unwanted: () => [{ step: 0, item: -1 }] },
    runs: { runOf: () => 7 },
  } as unknown as LoadedWorkflow
}

test('steps get the stop request again after a while, also when the wall clock has been set back', async () => {
  const clock = createVirtualClock()
  const cancelled: number[] = []
  const stopping = createStopNotifier({
    clock,
    cancel: async ({ runId }) => cancelled.push(runId),
    onError: assert.ifError,
  })
  const workflow = stoppedWorkflow()
  const notifyAndCount = async () => {
    stopping.note(workflow)
    await stopping.notifySome()
    return cancelled.length
  }
  assert.equal(await notifyAndCount(), 1)
  clock.freeze(STOP_REMINDER_MS - 1)
  assert.equal(await notifyAndCount(), 1)
  clock.jumpWall(-HOUR_MS)
  clock.freeze(1)
  assert.equal(await notifyAndCount(), 2)
})

test('a workflow that the store refuses is tried again after a minute, also when the wall clock has been set back', () => {
  const clock = createVirtualClock()
  const refusals = createRefusedWorkflows(clock.mono)
  assert.equal(refusals.isBackingOff(7), false)
  refusals.note(7, new Error('no'))
  clock.jumpWall(-HOUR_MS)
  clock.freeze(59_999)
  assert.equal(refusals.isBackingOff(7), true)
  clock.freeze(1)
  assert.equal(refusals.isBackingOff(7), false)
})
