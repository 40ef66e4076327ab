import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { BlobError } from '../../src/blobs/port.ts'
import { type WorkflowHarness, startWorkflowHarness } from '../workflows/workflow-harness.ts'
import { type FailingBlobs, failingBlobs } from '../workflows/failing-blobs.ts'

const LARGE = 'x'.repeat(100_000)

/** `b` follows `a` with the length of its result as input, and `c` follows with none. */
async function open(t: TestContext): Promise<[WorkflowHarness, FailingBlobs]> {
  const blobs = failingBlobs(t)
  const world = await startWorkflowHarness({ blobs })
  t.after(() => world.node.stop())
  const input = { size: '${{ length(after.output) }}' }
  await world.define({ task: 'b', triggers: [{ after: 'a', input }] }, 'b')
  await world.define({ task: 'c', triggers: [{ after: 'a' }] }, 'c')
  await world.define(
    { task: 'd', triggers: [{ after: 'a', input: { all: '${{ after.output }}' } }] },
    'd',
  )
  world.behave = ({ job }) => ({ result: job === 'a' ? LARGE : null })
  return [world, blobs]
}

async function runToRest({ clock, workOnce }: WorkflowHarness): Promise<void> {
  for (let turn = 0; turn < 30; turn += 1) {
    await clock.advance(100)
    await workOnce()
  }
}

const kinds = ({ started }: WorkflowHarness) => started.map((one) => one.slice(0, 1)).toSorted()

async function reasonOf(
  { node }: WorkflowHarness,
  job: string,
): Promise<string | null | undefined> {
  return (await node.admin.jobs.get('default', job)).follow_ups?.[0]?.reason
}

test('a follower of a lost result is settled with the reason, and the others continue', async (t) => {
  const [world, blobs] = await open(t)
  blobs.onGet.set('-result-', new BlobError('corrupt', 'the blob is not what was written'))
  await world.client.submit([{ job: 'a' }])
  await runToRest(world)
  assert.deepEqual(kinds(world), ['a', 'c'])
  assert.match((await reasonOf(world, 'b')) ?? '', /the result of run_\w+: .*not what was written/)
})

test('a follower of a result out of reach waits for it, and the others do not', async (t) => {
  const [world, blobs] = await open(t)
  blobs.onGet.set('-result-', new BlobError('unavailable', 'the mount is gone'))
  await world.client.submit(Array.from({ length: 150 }, () => ({ job: 'a' })))
  await runToRest(world)
  assert.equal(world.started.filter((one) => one === 'c').length, 150)
  assert.ok(world.errors.some((error) => String(error).includes('the mount is gone')))
  blobs.onGet.clear()
  await runToRest(world)
  await runToRest(world)
  assert.equal(world.started.length, 4 * 150)
})

test('a follower is not given up because its input cannot be stored now', async (t) => {
  const [world, blobs] = await open(t)
  blobs.onPut.set('-input-', new BlobError('full', 'no space left on device'))
  await world.client.submit([{ job: 'a' }])
  await runToRest(world)
  assert.deepEqual(kinds(world), ['a', 'b', 'c'])
  blobs.onPut.clear()
  await runToRest(world)
  assert.deepEqual(kinds(world), ['a', 'b', 'c', 'd'])
})
