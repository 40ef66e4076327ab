// A payload lost for good ends only the runs that need it; one that is out of reach makes them wait.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { BlobError } from '../../src/blobs/port.ts'
import type { StepInput } from '../../src/core/workflow/definition.ts'
import { type WorkflowHarness, startWorkflowHarness } from './workflow-harness.ts'
import { type FailingBlobs, failingBlobs } from './failing-blobs.ts'

const LARGE = 'x'.repeat(100_000)
const LOST = new BlobError('missing', 'there is no such blob')
const AWAY = new BlobError('unavailable', 'the mount is gone')

const task = (name: string, more: StepInput = {}): StepInput => ({ task: name, ...more })

async function open(t: TestContext): Promise<[WorkflowHarness, FailingBlobs]> {
  const blobs = failingBlobs(t)
  const workflows = await startWorkflowHarness({ blobs })
  t.after(() => workflows.node.stop())
  return [workflows, blobs]
}

test('a workflow with a lost input fails with the reason, and those read in the same batch continue', async (t) => {
  const [workflows, blobs] = await open(t)
  await workflows.define({
    concurrency: 'none',
    steps: { a: task('a', { with: '${{ length(input) }}' }) },
  })
  blobs.onGet.set('-input-', LOST)
  const [bad, good] = [await workflows.submit(LARGE), await workflows.submit('small')]
  assert.equal((await workflows.finish(good)).state, 'succeeded')
  const { state, cause, message } = await workflows.finish(bad)
  assert.deepEqual([state, cause], ['failed', 'start_error'])
  assert.match(message ?? '', /the input of run_\w+: there is no such blob/)
})

test('a workflow with an input out of reach waits, and those read in the same batch do not', async (t) => {
  const [workflows, blobs] = await open(t)
  await workflows.define({
    concurrency: 'none',
    steps: { a: task('a', { with: '${{ length(input) }}' }) },
  })
  blobs.onGet.set('-input-', AWAY)
  const [late, good] = [await workflows.submit(LARGE), await workflows.submit('small')]
  assert.equal((await workflows.finish(good)).state, 'succeeded')
  assert.equal((await workflows.view(late)).state, 'running')
  blobs.onGet.clear()
  assert.equal((await workflows.finish(late)).state, 'succeeded')
  assert.ok(workflows.errors.every((error) => String(error).includes('the mount is gone')))
})

test('a step that needs a lost output fails with the reason; one that only needs its state does not', async (t) => {
  const [workflows, blobs] = await open(t)
  await workflows.define({
    steps: {
      a: task('a'),
      b: task('b', { needs: 'a', with: '${{ steps.a.output }}' }),
      c: task('c', { needs: 'a', with: '${{ steps.a.state }}' }),
    },
  })
  blobs.onGet.set('-result-', LOST)
  workflows.behave = ({ task: name }) => ({ result: name === 'a' ? LARGE : null })
  const id = await workflows.submit()
  const { state, message } = await workflows.finish(id)
  assert.deepEqual([state, message], ['failed', 'b failed'])
  assert.deepEqual(await workflows.steps(id), ['a succeeded', 'b failed expression', 'c succeeded'])
  assert.match(
    (await workflows.records(id))[1]?.message ?? '',
    /the result of run_\w+: there is no/,
  )
})

test('a step waits for an output that is out of reach', async (t) => {
  const [workflows, blobs] = await open(t)
  await workflows.define({
    steps: { a: task('a'), b: task('b', { needs: 'a', with: '${{ length(steps.a.output) }}' }) },
  })
  blobs.onGet.set('-result-', AWAY)
  workflows.behave = ({ task: name }) => ({ result: name === 'a' ? LARGE : null })
  const id = await workflows.submit()
  await workflows.work()
  await workflows.clock.advance(3_000)
  assert.deepEqual(await workflows.steps(id), ['a succeeded'])
  blobs.onGet.clear()
  assert.equal((await workflows.finish(id)).state, 'succeeded')
  assert.deepEqual(workflows.started, ['a', 'b 100000'])
})

test('a step whose input cannot be stored now starts once it can', async (t) => {
  const [workflows, blobs] = await open(t)
  await workflows.define({
    steps: { a: task('a'), b: task('b', { needs: 'a', with: '${{ steps.a.output }}' }) },
  })
  const full = new BlobError('full', 'no space left on device')
  blobs.onPut.set('-input-', full)
  workflows.behave = ({ task: name }) => ({ result: name === 'a' ? LARGE : null })
  const id = await workflows.submit()
  await workflows.work()
  await workflows.clock.advance(3_000)
  assert.deepEqual(await workflows.steps(id), ['a succeeded'])
  blobs.onPut.clear()
  assert.equal((await workflows.finish(id)).state, 'succeeded')
  assert.equal(workflows.started.length, 2)
  assert.ok(workflows.errors.some((error) => String(error).includes('no room for the input')))
})
