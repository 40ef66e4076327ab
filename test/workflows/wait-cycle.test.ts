import assert from 'node:assert/strict'
import { test } from 'node:test'
import { publicId } from '../../src/core/ids.ts'
import { startFlows } from './workflow-harness.ts'

test('workflows that wait for gates of each other say so, and go on when one of them is cancelled', async () => {
  const flows = await startFlows()
  const gate = (key: string) => ({ concurrency: { key, limit: 1 } })
  const steps = { s: { task: 'a' } }
  await flows.define({ ...gate('blue'), steps }, 'in-blue')
  await flows.define({ ...gate('red'), steps }, 'in-red')
  const first = { task: 'b' }
  await flows.define({ ...gate('red'), steps: [first, { name: 'in', job: 'in-blue' }] })
  await flows.define({ ...gate('blue'), steps: [first, { name: 'in', job: 'in-red' }] }, 'other')
  const red = await flows.submit()
  const [{ id: blue } = { id: '' }] = await flows.client.submit([{ job: 'other' }])
  await flows.work()
  const why = await flows.node.admin.runs.why('default', red)
  const waiting = `They wait for each other, and will for ever: ${blue} waits for ${red}, ${red} for this step of it.`
  assert.ok(why.details.includes(waiting), why.details.join('\n'))
  const [, step] = await flows.records(red)
  const inner = await flows.node.admin.runs.why('default', publicId('run', step?.runId as number))
  assert.ok(inner.details.includes(waiting), inner.details.join('\n'))

  await flows.client.cancel(blue)
  assert.equal((await flows.finish(red)).state, 'succeeded')
  await flows.node.stop()
})
