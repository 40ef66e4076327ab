import assert from 'node:assert/strict'
import { test } from 'node:test'
import { publicId } from '../../src/core/ids.ts'
import type { StepInput } from '../../src/core/workflow/definition.ts'
import { createStoreOnEngine } from '../../src/store/sqlite/store.ts'
import { startWorkflowHarness } from './workflow-harness.ts'

const task = (name: string, more: StepInput = {}): StepInput => ({ task: name, ...more })

test('a chain runs in order, and each step gets the outputs of the steps before', async () => {
  const workflows = await startWorkflowHarness()
  await workflows.define({
    steps: {
      a: task('a', { with: { day: '${{ input.day }}' } }),
      b: task('b', { needs: 'a', with: { sum: '${{ steps.a.output.sum }}' } }),
      c: task('c', { needs: 'b', with: '${{ run.wave }}' }),
    },
  })
  workflows.behave = ({ task: name }) => ({ result: name === 'a' ? { sum: 42 } : null })
  const id = await workflows.submit({ day: 'monday' })
  const { state, message } = await workflows.finish(id)
  assert.deepEqual([state, message, workflows.errors], ['succeeded', null, []])
  assert.deepEqual(workflows.started, ['a {"day":"monday"}', 'b {"sum":42}', 'c 1'])
  await workflows.node.stop()
})

test('a fan-out runs at most max_parallel items at a time and returns the list of their outputs', async () => {
  const workflows = await startWorkflowHarness()
  await workflows.define({
    steps: {
      list: task('list'),
      load: task('load', {
        needs: 'list',
        each: '${{ steps.list.output }}',
        max_parallel: 2,
        with: { nth: '${{ each.index }}', part: '${{ item }}' },
      }),
      report: task('report', { needs: 'load', with: '${{ steps.load.output }}' }),
    },
  })
  workflows.behave = ({ task: name, input }) => {
    if (name === 'list') return { result: ['x', 'y', 'z'] }
    return {
      result: name === 'load' ? (JSON.parse(input as string) as { nth: number }).nth * 10 : 0,
    }
  }
  const id = await workflows.submit()
  assert.equal((await workflows.finish(id)).state, 'succeeded')
  assert.deepEqual(workflows.started.slice(1), [
    'load {"nth":0,"part":"x"}',
    'load {"nth":1,"part":"y"}',
    'load {"nth":2,"part":"z"}',
    'report [0,10,20]',
  ])
  assert.deepEqual(await workflows.steps(id), [
    'list succeeded',
    'load succeeded',
    'load.0 succeeded',
    'load.1 succeeded',
    'load.2 succeeded',
    'report succeeded',
  ])
  await workflows.node.stop()
})

test('a failure skips the steps that need it, starts those that wait for it, and is named in the result', async () => {
  const workflows = await startWorkflowHarness()
  await workflows.define({
    steps: {
      a: task('a', { if: '${{ input.full }}' }),
      b: task('b', { needs: 'a' }),
      c: task('c', { needs: 'b' }),
      mail: task('mail', { needs: 'b', when: 'any-failed', with: '${{ steps.b.state }}' }),
      e: task('e', { with: '${{ 1 < default(input.missing, "x") }}' }),
    },
  })
  workflows.behave = ({ task: name }) => (name === 'b' ? 'failed' : { result: null })
  const id = await workflows.submit({ full: false })
  const { state, cause, message } = await workflows.finish(id)
  assert.deepEqual([state, cause, message], ['failed', 'error', 'b, e failed'])
  assert.deepEqual(await workflows.steps(id), [
    'a skipped condition',
    'b failed',
    'c skipped needs',
    'mail succeeded',
    'e failed expression',
  ])
  assert.deepEqual(workflows.started, ['b', 'mail "failed"'])
  await workflows.node.stop()
})

test('a cancelled workflow stops its running steps, runs its cleanup and is cancelled', async () => {
  const workflows = await startWorkflowHarness()
  await workflows.define({
    steps: {
      a: task('a'),
      b: task('b', { needs: 'a' }),
      clean: task('clean', { finally: true }),
    },
  })
  workflows.behave = ({ task: name }) => (name === 'a' ? 'hold' : { result: null })
  const id = await workflows.submit()
  await workflows.work()
  assert.deepEqual(await workflows.client.cancel(id), { id, state: 'cancelling' })
  await workflows.work()
  await workflows.stopHeld()
  const { state, cause } = await workflows.finish(id)
  assert.deepEqual([state, cause], ['cancelled', 'cancelled'])
  assert.deepEqual(await workflows.steps(id), [
    'a cancelled',
    'b skipped cancelled',
    'clean succeeded',
  ])
  await workflows.node.stop()
})

test('a workflow that exceeds its timeout is stopped and has failed', async () => {
  const workflows = await startWorkflowHarness()
  await workflows.define({ timeout: '3s', steps: { a: task('a'), b: task('b', { needs: 'a' }) } })
  workflows.behave = () => 'hold'
  const id = await workflows.submit()
  await workflows.work()
  await workflows.clock.advance(1_500)
  assert.deepEqual(await workflows.steps(id), ['a running'])
  await workflows.clock.advance(2_000)
  await workflows.stopHeld()
  const { state, cause, message } = await workflows.finish(id)
  assert.deepEqual([state, cause, message], ['failed', 'timeout', 'it ran out of time'])
  assert.deepEqual(await workflows.steps(id), ['a cancelled', 'b skipped timeout'])
  await workflows.node.stop()
})

test('waves of one job run one at a time, and each has its number', async () => {
  const workflows = await startWorkflowHarness()
  await workflows.define({
    steps: { a: task('a', { with: '${{ run.wave }}' }), b: task('b', { needs: 'a' }) },
  })
  const ids = [await workflows.submit(), await workflows.submit(), await workflows.submit()]
  for (const id of ids) assert.equal((await workflows.finish(id)).state, 'succeeded')
  assert.deepEqual(workflows.started, ['a 1', 'b', 'a 2', 'b', 'a 3', 'b'])
  await workflows.node.stop()
})

test('a step can be another workflow', async () => {
  const workflows = await startWorkflowHarness()
  await workflows.define(
    { input: { day: { type: 'string' } }, steps: { a: task('a', { with: '${{ input.day }}' }) } },
    'inner',
  )
  await workflows.define({
    steps: { in: { job: 'inner', with: { day: 'monday' } }, b: task('b', { needs: 'in' }) },
  })
  const id = await workflows.submit()
  assert.equal((await workflows.finish(id)).state, 'succeeded')
  assert.deepEqual(workflows.started, ['a "monday"', 'b'])
  await workflows.node.stop()
})

test('a workflow returns the result its definition names, to steps that run it and to readers', async () => {
  const workflows = await startWorkflowHarness()
  const rows = '${{ steps.a.output.rows }}'
  await workflows.define(
    { steps: { a: task('a') }, output: { rows, of: 'a ${{ run.job }}' } },
    'inner',
  )
  const steps = {
    in: { job: 'inner' },
    b: task('b', { needs: 'in', with: '${{ steps.in.output }}' }),
  }
  await workflows.define({ steps, output: '${{ steps.in.output.rows }}' })
  workflows.behave = () => ({ result: { rows: [1, 2] } })
  const { state, result } = await workflows.finish(await workflows.submit())
  assert.deepEqual([state, result], ['succeeded', '[1,2]'])
  assert.deepEqual(workflows.started, ['a', 'b {"of":"a inner","rows":[1,2]}'])

  await workflows.define({ steps: { a: task('a') }, output: '${{ number(steps.a.output) }}' })
  workflows.behave = () => ({ result: 'no JSON' })
  const failed = await workflows.finish(await workflows.submit())
  assert.deepEqual([failed.state, failed.result], ['failed', null])
  assert.match(failed.message ?? '', /^output: /)

  await workflows.define({ steps: { a: task('a') } })
  assert.equal((await workflows.finish(await workflows.submit())).result, null)
  for (const output of ['${{ steps.b.output }}', { x: ['${{ secrets.KEY }}'] }]) {
    await assert.rejects(workflows.define({ steps: { a: task('a') }, output }), {
      field: /^output/,
    })
  }
  await assert.rejects(workflows.define({ task: 'a', output: 1 }), { field: 'output' })
  await workflows.node.stop()
})

test('a workflow cannot run inside itself, directly or through another', async () => {
  const workflows = await startWorkflowHarness()
  const more = { concurrency: 'none' } as const
  await workflows.define({ ...more, steps: { in: { job: 'inner' }, b: task('b') } })
  const inside = { ...more, steps: { out: { job: 'flow' }, a: task('a') } }
  await assert.rejects(workflows.define(inside, 'inner'), {
    code: 'invalid_workflow',
    message: 'steps.out.job: these jobs would run inside themselves: inner → flow → inner',
  })
  await assert.rejects(workflows.define({ steps: [{ job: 'itself' }] }, 'itself'), {
    message: 'steps.0.job: these jobs would run inside themselves: itself → itself',
  })
  // As can happen when two are defined at the same moment.
  const store = createStoreOnEngine(workflows.engine)
  const [projectId = 0] = await store.internProjects(['default'])
  const by = { projectId, actor: null, detail: null, request: null, address: null }
  await store.putJob({
    projectId,
    name: 'inner',
    definition: JSON.stringify(inside),
    expect: null,
    audit: { ...by, action: 'job.put', target: 'inner' },
  })
  const id = await workflows.submit()
  const { state, message } = await workflows.finish(id)
  assert.deepEqual([state, message], ['failed', 'in failed'])
  const [outer] = await workflows.records(id)
  const [inner] = await workflows.records(publicId('run', outer?.runId as number))
  assert.deepEqual([inner?.state, inner?.reason], ['failed', 'submission'])
  assert.match(inner?.message ?? '', /^flow already contains this step/)
  assert.deepEqual(workflows.started.toSorted(), ['a', 'b'])
  await workflows.node.stop()
})

test('a step that would wait for its own workflow fails at once, and one with a free slot runs', async () => {
  const workflows = await startWorkflowHarness()
  const shared = (limit: number) => ({ concurrency: { key: 'warehouse', limit } })
  await workflows.define({ ...shared(1), steps: { a: task('a') } }, 'inner')
  await workflows.define({ ...shared(1), steps: { in: { job: 'inner' }, b: task('b') } })
  const id = await workflows.submit()
  assert.deepEqual((await workflows.finish(id)).message, 'in failed')
  const [step] = await workflows.records(id)
  assert.deepEqual([step?.state, step?.reason], ['failed', 'submission'])
  assert.equal(
    step?.message,
    `it would wait for ever: ${id} holds warehouse until this step is over`,
  )
  assert.deepEqual(workflows.started, ['b'])

  await workflows.define({ ...shared(2), steps: { a: task('a') } }, 'inner')
  await workflows.define({ ...shared(2), steps: { in: { job: 'inner' } } })
  assert.equal((await workflows.finish(await workflows.submit())).state, 'succeeded')
  await workflows.node.stop()
})
