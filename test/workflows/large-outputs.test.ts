// Outputs of steps may be large, but how much is read at once is bounded.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { StepInput } from '../../src/core/workflow/definition.ts'
import { type WorkflowHarness, startWorkflowHarness } from './workflow-harness.ts'
import { type FailingBlobs, failingBlobs } from './failing-blobs.ts'

const HUGE = 'x'.repeat(7 * 1024 * 1024)

const task = (name: string, more: StepInput = {}): StepInput => ({ task: name, ...more })
const size = (step: string) => `\${{ length(steps.${step}.output) }}`

async function open(t: TestContext): Promise<[WorkflowHarness, FailingBlobs]> {
  const blobs = failingBlobs(t)
  const workflows = await startWorkflowHarness({ blobs })
  t.after(() => workflows.node.stop())
  return [workflows, blobs]
}

const readResults = ({ asked }: FailingBlobs) =>
  asked.filter((key) => key.includes('-result-')).length

test('outputs too large to be read together fail the step that names them, and are not read', async (t) => {
  const [workflows, blobs] = await open(t)
  await workflows.define({
    steps: {
      load: task('load', {
        each: Array.from({ length: 10 }, (_, nth) => nth),
        with: '${{ item }}',
      }),
      report: task('report', { needs: 'load', with: size('load') }),
      mail: task('mail', { needs: 'load', with: '${{ steps.load.state }}' }),
    },
  })
  workflows.behave = ({ task: name }) => ({ result: name === 'load' ? HUGE : null })
  const id = await workflows.submit()
  assert.equal((await workflows.finish(id)).message, 'report failed')
  const records = await workflows.records(id)
  const report = records.find(({ reason }) => reason !== null)
  assert.equal(report?.reason, 'expression')
  assert.match(report?.message ?? '', /more than 67108864 bytes/)
  assert.ok(workflows.started.includes('mail "succeeded"'))
  assert.equal(readResults(blobs), 0)
  assert.deepEqual(workflows.errors, [])
})

test('steps that each need large outputs start one after the other', async (t) => {
  const [workflows] = await open(t)
  const each = Array.from({ length: 5 }, (_, nth) => nth)
  await workflows.define({
    steps: {
      a: task('a', { each, with: '${{ item }}' }),
      b: task('b', { each, with: '${{ item }}' }),
      c: task('c', { needs: ['a', 'b'], with: size('a') }),
      d: task('d', { needs: ['a', 'b'], with: size('b') }),
      e: task('e', { needs: ['a', 'b'], with: [size('a'), size('b')] }),
    },
  })
  workflows.behave = ({ task: name }) => ({ result: name === 'a' || name === 'b' ? HUGE : null })
  const id = await workflows.submit()
  assert.equal((await workflows.finish(id)).message, 'e failed')
  assert.deepEqual(workflows.started.slice(10).toSorted(), ['c 5', 'd 5'])
  assert.deepEqual(workflows.errors, [])
})

test('the list of a fan-out is read once, however many items start one after the other', async (t) => {
  const [workflows, blobs] = await open(t)
  await workflows.define({
    steps: {
      list: task('list'),
      load: task('load', {
        needs: 'list',
        each: '${{ steps.list.output }}',
        max_parallel: 1,
        with: '${{ length(item) }}',
      }),
    },
  })
  const part = 'x'.repeat(10_000)
  workflows.behave = ({ task: name }) => ({
    result: name === 'list' ? Array.from({ length: 20 }, () => part) : null,
  })
  assert.equal((await workflows.finish(await workflows.submit())).state, 'succeeded')
  assert.equal(workflows.started.length, 21)
  assert.equal(readResults(blobs), 1)
})
