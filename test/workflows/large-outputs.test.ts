// What steps give may be large, and what is read of it at once is not.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { StepInput } from '../../src/core/workflow/definition.ts'
import { type FlowWorld, startFlows } from './workflow-harness.ts'
import { type TroubledBlobs, troubledBlobs } from './failing-blobs.ts'

const HUGE = 'x'.repeat(7 * 1024 * 1024)

const task = (name: string, more: StepInput = {}): StepInput => ({ task: name, ...more })
const size = (step: string) => `\${{ length(steps.${step}.output) }}`

async function open(t: TestContext): Promise<[FlowWorld, TroubledBlobs]> {
  const blobs = troubledBlobs(t)
  const flows = await startFlows({ blobs })
  t.after(() => flows.node.stop())
  return [flows, blobs]
}

const readResults = ({ asked }: TroubledBlobs) =>
  asked.filter((key) => key.includes('-result-')).length

test('outputs too large to be read together fail the step that names them, and are not read', async (t) => {
  const [flows, blobs] = await open(t)
  await flows.define({
    steps: {
      load: task('load', {
        each: Array.from({ length: 10 }, (_, nth) => nth),
        with: '${{ item }}',
      }),
      report: task('report', { needs: 'load', with: size('load') }),
      mail: task('mail', { needs: 'load', with: '${{ steps.load.state }}' }),
    },
  })
  flows.behave = ({ task: name }) => ({ result: name === 'load' ? HUGE : null })
  const id = await flows.submit()
  assert.equal((await flows.finish(id)).message, 'report failed')
  const records = await flows.records(id)
  const report = records.find(({ reason }) => reason !== null)
  assert.equal(report?.reason, 'expression')
  assert.match(report?.message ?? '', /more than 67108864 bytes/)
  assert.ok(flows.started.includes('mail "succeeded"'))
  assert.equal(readResults(blobs), 0)
  assert.deepEqual(flows.errors, [])
})

test('steps that each need much are begun one after the other', async (t) => {
  const [flows] = await open(t)
  const each = Array.from({ length: 5 }, (_, nth) => nth)
  await flows.define({
    steps: {
      a: task('a', { each, with: '${{ item }}' }),
      b: task('b', { each, with: '${{ item }}' }),
      c: task('c', { needs: ['a', 'b'], with: size('a') }),
      d: task('d', { needs: ['a', 'b'], with: size('b') }),
      e: task('e', { needs: ['a', 'b'], with: [size('a'), size('b')] }),
    },
  })
  flows.behave = ({ task: name }) => ({ result: name === 'a' || name === 'b' ? HUGE : null })
  const id = await flows.submit()
  assert.equal((await flows.finish(id)).message, 'e failed')
  assert.deepEqual(flows.started.slice(10).toSorted(), ['c 5', 'd 5'])
  assert.deepEqual(flows.errors, [])
})

test('the list of a fan-out is read once, however many items begin one after the other', async (t) => {
  const [flows, blobs] = await open(t)
  await flows.define({
    steps: {
      list: task('list'),
      load: task('load', {
        ...{ needs: 'list', each: '${{ steps.list.output }}', max_parallel: 1 },
        with: '${{ length(item) }}',
      }),
    },
  })
  const part = 'x'.repeat(10_000)
  flows.behave = ({ task: name }) => ({
    result: name === 'list' ? Array.from({ length: 20 }, () => part) : null,
  })
  assert.equal((await flows.finish(await flows.submit())).state, 'succeeded')
  assert.equal(flows.started.length, 21)
  assert.equal(readResults(blobs), 1)
})
