// What is lost for good ends what needs it, and nothing else; what is only out of reach is waited for.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { BlobError } from '../../src/blobs/port.ts'
import type { StepInput } from '../../src/core/workflow/definition.ts'
import { type FlowWorld, startFlows } from './workflow-harness.ts'
import { type TroubledBlobs, troubledBlobs } from './failing-blobs.ts'

const LARGE = 'x'.repeat(100_000)
const LOST = new BlobError('missing', 'there is no such blob')
const AWAY = new BlobError('unavailable', 'the mount is gone')

const task = (name: string, more: StepInput = {}): StepInput => ({ task: name, ...more })

async function open(t: TestContext): Promise<[FlowWorld, TroubledBlobs]> {
  const blobs = troubledBlobs(t)
  const flows = await startFlows({ blobs })
  t.after(() => flows.node.stop())
  return [flows, blobs]
}

test('a flow whose input is lost fails with the reason, and those read with it go on', async (t) => {
  const [flows, blobs] = await open(t)
  await flows.define({
    concurrency: 'none',
    steps: { a: task('a', { with: '${{ length(input) }}' }) },
  })
  blobs.onGet.set('-input-', LOST)
  const [bad, good] = [await flows.submit(LARGE), await flows.submit('small')]
  assert.equal((await flows.finish(good)).state, 'succeeded')
  const { state, cause, message } = await flows.finish(bad)
  assert.deepEqual([state, cause], ['failed', 'start_error'])
  assert.match(message ?? '', /the input of run_\w+: there is no such blob/)
})

test('a flow whose input is out of reach waits, and those read with it do not', async (t) => {
  const [flows, blobs] = await open(t)
  await flows.define({
    concurrency: 'none',
    steps: { a: task('a', { with: '${{ length(input) }}' }) },
  })
  blobs.onGet.set('-input-', AWAY)
  const [late, good] = [await flows.submit(LARGE), await flows.submit('small')]
  assert.equal((await flows.finish(good)).state, 'succeeded')
  assert.equal((await flows.view(late)).state, 'running')
  blobs.onGet.clear()
  assert.equal((await flows.finish(late)).state, 'succeeded')
  assert.ok(flows.errors.every((error) => String(error).includes('the mount is gone')))
})

test('a step that needs an output that is lost fails with the reason; who only asks how it went does not', async (t) => {
  const [flows, blobs] = await open(t)
  await flows.define({
    steps: {
      a: task('a'),
      b: task('b', { needs: 'a', with: '${{ steps.a.output }}' }),
      c: task('c', { needs: 'a', with: '${{ steps.a.state }}' }),
    },
  })
  blobs.onGet.set('-result-', LOST)
  flows.behave = ({ task: name }) => ({ result: name === 'a' ? LARGE : null })
  const id = await flows.submit()
  const { state, message } = await flows.finish(id)
  assert.deepEqual([state, message], ['failed', 'b failed'])
  assert.deepEqual(await flows.steps(id), ['a succeeded', 'b failed expression', 'c succeeded'])
  assert.match((await flows.records(id))[1]?.message ?? '', /the result of run_\w+: there is no/)
})

test('a step waits for an output that is out of reach', async (t) => {
  const [flows, blobs] = await open(t)
  await flows.define({
    steps: { a: task('a'), b: task('b', { needs: 'a', with: '${{ length(steps.a.output) }}' }) },
  })
  blobs.onGet.set('-result-', AWAY)
  flows.behave = ({ task: name }) => ({ result: name === 'a' ? LARGE : null })
  const id = await flows.submit()
  await flows.work()
  await flows.clock.advance(3_000)
  assert.deepEqual(await flows.steps(id), ['a succeeded'])
  blobs.onGet.clear()
  assert.equal((await flows.finish(id)).state, 'succeeded')
  assert.deepEqual(flows.started, ['a', 'b 100000'])
})

test('a step whose input finds no place now starts when there is one', async (t) => {
  const [flows, blobs] = await open(t)
  await flows.define({
    steps: { a: task('a'), b: task('b', { needs: 'a', with: '${{ steps.a.output }}' }) },
  })
  const full = new BlobError('full', 'no space left on device')
  blobs.onPut.set('-input-', full)
  flows.behave = ({ task: name }) => ({ result: name === 'a' ? LARGE : null })
  const id = await flows.submit()
  await flows.work()
  await flows.clock.advance(3_000)
  assert.deepEqual(await flows.steps(id), ['a succeeded'])
  blobs.onPut.clear()
  assert.equal((await flows.finish(id)).state, 'succeeded')
  assert.equal(flows.started.length, 2)
  assert.ok(flows.errors.some((error) => String(error).includes('no room for the input')))
})
