import assert from 'node:assert/strict'
import { test } from 'node:test'
import { publicId } from '../../src/core/ids.ts'
import { startWorkflowHarness } from './workflow-harness.ts'

test('workflows that wait for gates of each other say so, and continue when one of them is cancelled', async () => {
  const harness = await startWorkflowHarness()
  const gate = (key: string) => ({ concurrency: { key, limit: 1 } })
  const steps = { s: { task: 'a' } }
  await harness.define({ ...gate('blue'), steps }, 'in-blue')
  await harness.define({ ...gate('red'), steps }, 'in-red')
  const first = { task: 'b' }
  await harness.define({ ...gate('red'), steps: [first, { name: 'in', job: 'in-blue' }] })
  await harness.define({ ...gate('blue'), steps: [first, { name: 'in', job: 'in-red' }] }, 'other')
  const red = await harness.submit()
  const [{ id: blue } = { id: '' }] = await harness.client.submit([{ job: 'other' }])
  await harness.work()
  const why = await harness.node.admin.runs.why('default', red)
  const waiting = `They wait for each other, and will for ever: ${blue} waits for ${red}, ${red} for this step of it.`
  assert.ok(why.details.includes(waiting), why.details.join('\n'))
  const [, step] = await harness.records(red)
  const inner = await harness.node.admin.runs.why('default', publicId('run', step?.runId as number))
  assert.ok(inner.details.includes(waiting), inner.details.join('\n'))

  await harness.client.cancel(blue)
  assert.equal((await harness.finish(red)).state, 'succeeded')
  await harness.node.stop()
})
