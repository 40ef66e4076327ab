import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePublicId } from '../../src/core/ids.ts'
import { type Store, StoreError } from '../../src/store/port.ts'
import { startFlows } from './workflow-harness.ts'

test('what an approval asks is stored without what a store would refuse', async () => {
  const flows = await startFlows()
  await flows.define({
    steps: {
      a: { task: 'a' },
      b: { needs: 'a', approve: { message: 'Publish ${{ steps.a.output }}?' } },
    },
  })
  flows.behave = () => ({ result: 'x\0y' })
  const id = await flows.submit()
  await flows.work()
  const [, asked] = await flows.records(id)
  assert.deepEqual([asked?.state, asked?.message], ['waiting', 'Publish x\uFFFDy?'])
  await flows.node.stop()
})

test('a flow whose next move the store refuses again and again ends with the reason, and what runs is stopped', async () => {
  const wrap = (store: Store): Store => ({
    ...store,
    async advanceFlows(batch) {
      if (batch.moves.some(({ heard }) => heard.length > 0)) {
        throw new StoreError('refused', 'such a text cannot be stored')
      }
      return store.advanceFlows(batch)
    },
  })
  const flows = await startFlows({ wrap })
  await flows.define({
    steps: { a: { task: 'a' }, b: { task: 'b' }, c: { task: 'c', needs: 'a' } },
  })
  flows.behave = ({ task }) => (task === 'b' ? 'hold' : { result: null })
  const id = await flows.submit()
  await flows.work()
  await flows.clock.advance(30_000)
  assert.equal((await flows.view(id)).state, 'running')
  for (let minute = 0; minute < 4; minute += 1) await flows.clock.advance(61_000)
  const { state, cause, message } = await flows.view(id)
  assert.deepEqual([state, cause], ['failed', 'start_error'])
  assert.match(message ?? '', /cannot be stored: such a text/)
  const [, b] = await flows.records(id)
  const { runs } = await flows.client.listRuns()
  const held = runs.find((run) => parsePublicId('run', run.id) === b?.runId)
  assert.ok(held?.state === 'cancelled' || held?.cancelling, JSON.stringify(held))
  await flows.node.stop()
})
