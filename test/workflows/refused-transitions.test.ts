import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePublicId } from '../../src/core/ids.ts'
import { type Store, StoreError } from '../../src/store/port.ts'
import { startWorkflowHarness } from './workflow-harness.ts'

test('the text of an approval is stored without characters that a store would refuse', async () => {
  const workflows = await startWorkflowHarness()
  await workflows.define({
    steps: {
      a: { task: 'a' },
      b: { needs: 'a', approve: { message: 'Publish ${{ steps.a.output }}?' } },
    },
  })
  workflows.behave = () => ({ result: 'x\0y' })
  const id = await workflows.submit()
  await workflows.work()
  const [, asked] = await workflows.records(id)
  assert.deepEqual([asked?.state, asked?.message], ['waiting', 'Publish x\uFFFDy?'])
  await workflows.node.stop()
})

test('a workflow whose next transition the store keeps refusing ends with the reason, and its running steps are stopped', async () => {
  const wrap = (store: Store): Store => ({
    ...store,
    async advanceWorkflows(batch) {
      if (batch.transitions.some(({ processed }) => processed.length > 0)) {
        throw new StoreError('refused', 'such a text cannot be stored')
      }
      return store.advanceWorkflows(batch)
    },
  })
  const workflows = await startWorkflowHarness({ wrap })
  await workflows.define({
    steps: { a: { task: 'a' }, b: { task: 'b' }, c: { task: 'c', needs: 'a' } },
  })
  workflows.behave = ({ task }) => (task === 'b' ? 'hold' : { result: null })
  const id = await workflows.submit()
  await workflows.work()
  await workflows.clock.advance(30_000)
  assert.equal((await workflows.view(id)).state, 'running')
  for (let minute = 0; minute < 4; minute += 1) await workflows.clock.advance(61_000)
  const { state, cause, message } = await workflows.view(id)
  assert.deepEqual([state, cause], ['failed', 'start_error'])
  assert.match(message ?? '', /cannot be stored: such a text/)
  const [, b] = await workflows.records(id)
  const { runs } = await workflows.client.listRuns()
  const held = runs.find((run) => parsePublicId('run', run.id) === b?.runId)
  assert.ok(held?.state === 'cancelled' || held?.cancelling, JSON.stringify(held))
  await workflows.node.stop()
})
