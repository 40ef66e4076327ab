import assert from 'node:assert/strict'
import { test } from 'node:test'
import { publicId } from '../../src/core/ids.ts'
import type { StepInput } from '../../src/core/workflow/definition.ts'
import { storeOn } from '../../src/store/sqlite/store.ts'
import { startFlows } from './workflow-harness.ts'

const task = (name: string, more: StepInput = {}): StepInput => ({ task: name, ...more })

test('a chain runs from top to bottom, each step with what the ones before gave', async () => {
  const flows = await startFlows()
  await flows.define({
    steps: {
      a: task('a', { with: { day: '${{ input.day }}' } }),
      b: task('b', { needs: 'a', with: { sum: '${{ steps.a.output.sum }}' } }),
      c: task('c', { needs: 'b', with: '${{ run.wave }}' }),
    },
  })
  flows.behave = ({ task: name }) => ({ result: name === 'a' ? { sum: 42 } : null })
  const id = await flows.submit({ day: 'monday' })
  const { state, message } = await flows.finish(id)
  assert.deepEqual([state, message, flows.errors], ['succeeded', null, []])
  assert.deepEqual(flows.started, ['a {"day":"monday"}', 'b {"sum":42}', 'c 1'])
  await flows.node.stop()
})

test('a fan-out runs so many items at a time, and gives the list of what they gave', async () => {
  const flows = await startFlows()
  await flows.define({
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
  flows.behave = ({ task: name, input }) => {
    if (name === 'list') return { result: ['x', 'y', 'z'] }
    return {
      result: name === 'load' ? (JSON.parse(input as string) as { nth: number }).nth * 10 : 0,
    }
  }
  const id = await flows.submit()
  assert.equal((await flows.finish(id)).state, 'succeeded')
  assert.deepEqual(flows.started.slice(1), [
    'load {"nth":0,"part":"x"}',
    'load {"nth":1,"part":"y"}',
    'load {"nth":2,"part":"z"}',
    'report [0,10,20]',
  ])
  assert.deepEqual(await flows.steps(id), [
    'list succeeded',
    ...['load succeeded', 'load.0 succeeded', 'load.1 succeeded', 'load.2 succeeded'],
    'report succeeded',
  ])
  await flows.node.stop()
})

test('a failure skips what needs it, starts what waits for it, and is named at the end', async () => {
  const flows = await startFlows()
  await flows.define({
    steps: {
      a: task('a', { if: '${{ input.full }}' }),
      b: task('b', { needs: 'a' }),
      c: task('c', { needs: 'b' }),
      mail: task('mail', { needs: 'b', when: 'any-failed', with: '${{ steps.b.state }}' }),
      e: task('e', { with: '${{ 1 < default(input.missing, "x") }}' }),
    },
  })
  flows.behave = ({ task: name }) => (name === 'b' ? 'failed' : { result: null })
  const id = await flows.submit({ full: false })
  const { state, cause, message } = await flows.finish(id)
  assert.deepEqual([state, cause, message], ['failed', 'error', 'b, e failed'])
  assert.deepEqual(await flows.steps(id), [
    'a skipped condition',
    'b failed',
    'c skipped needs',
    'mail succeeded',
    'e failed expression',
  ])
  assert.deepEqual(flows.started, ['b', 'mail "failed"'])
  await flows.node.stop()
})

test('a cancelled flow stops what runs, clears up, and is cancelled', async () => {
  const flows = await startFlows()
  await flows.define({
    steps: {
      a: task('a'),
      b: task('b', { needs: 'a' }),
      clean: task('clean', { finally: true }),
    },
  })
  flows.behave = ({ task: name }) => (name === 'a' ? 'hold' : { result: null })
  const id = await flows.submit()
  await flows.work()
  assert.deepEqual(await flows.client.cancel(id), { id, state: 'cancelling' })
  await flows.work()
  await flows.stopHeld()
  const { state, cause } = await flows.finish(id)
  assert.deepEqual([state, cause], ['cancelled', 'cancelled'])
  assert.deepEqual(await flows.steps(id), ['a cancelled', 'b skipped cancelled', 'clean succeeded'])
  await flows.node.stop()
})

test('a flow that runs out of time is stopped and has failed', async () => {
  const flows = await startFlows()
  await flows.define({ timeout: '3s', steps: { a: task('a'), b: task('b', { needs: 'a' }) } })
  flows.behave = () => 'hold'
  const id = await flows.submit()
  await flows.work()
  await flows.clock.advance(1_500)
  assert.deepEqual(await flows.steps(id), ['a running'])
  await flows.clock.advance(2_000)
  await flows.stopHeld()
  const { state, cause, message } = await flows.finish(id)
  assert.deepEqual([state, cause, message], ['failed', 'timeout', 'it ran out of time'])
  assert.deepEqual(await flows.steps(id), ['a cancelled', 'b skipped timeout'])
  await flows.node.stop()
})

test('waves of one job run one at a time, and each has its number', async () => {
  const flows = await startFlows()
  await flows.define({
    steps: { a: task('a', { with: '${{ run.wave }}' }), b: task('b', { needs: 'a' }) },
  })
  const ids = [await flows.submit(), await flows.submit(), await flows.submit()]
  for (const id of ids) assert.equal((await flows.finish(id)).state, 'succeeded')
  assert.deepEqual(flows.started, ['a 1', 'b', 'a 2', 'b', 'a 3', 'b'])
  await flows.node.stop()
})

test('a step can be another workflow', async () => {
  const flows = await startFlows()
  await flows.define(
    { input: { day: { type: 'string' } }, steps: { a: task('a', { with: '${{ input.day }}' }) } },
    'inner',
  )
  await flows.define({
    steps: { in: { job: 'inner', with: { day: 'monday' } }, b: task('b', { needs: 'in' }) },
  })
  const id = await flows.submit()
  assert.equal((await flows.finish(id)).state, 'succeeded')
  assert.deepEqual(flows.started, ['a "monday"', 'b'])
  await flows.node.stop()
})

test('a workflow gives what its definition says, to steps that run it and to whoever looks', async () => {
  const flows = await startFlows()
  const rows = '${{ steps.a.output.rows }}'
  await flows.define({ steps: { a: task('a') }, output: { rows, of: 'a ${{ run.job }}' } }, 'inner')
  const steps = {
    in: { job: 'inner' },
    b: task('b', { needs: 'in', with: '${{ steps.in.output }}' }),
  }
  await flows.define({ steps, output: '${{ steps.in.output.rows }}' })
  flows.behave = () => ({ result: { rows: [1, 2] } })
  const { state, result } = await flows.finish(await flows.submit())
  assert.deepEqual([state, result], ['succeeded', '[1,2]'])
  assert.deepEqual(flows.started, ['a', 'b {"of":"a inner","rows":[1,2]}'])

  await flows.define({ steps: { a: task('a') }, output: '${{ number(steps.a.output) }}' })
  flows.behave = () => ({ result: 'no JSON' })
  const failed = await flows.finish(await flows.submit())
  assert.deepEqual([failed.state, failed.result], ['failed', null])
  assert.match(failed.message ?? '', /^output: /)

  await flows.define({ steps: { a: task('a') } })
  assert.equal((await flows.finish(await flows.submit())).result, null)
  for (const output of ['${{ steps.b.output }}', { x: ['${{ secrets.KEY }}'] }]) {
    await assert.rejects(flows.define({ steps: { a: task('a') }, output }), { field: /^output/ })
  }
  await assert.rejects(flows.define({ task: 'a', output: 1 }), { field: 'output' })
  await flows.node.stop()
})

test('a workflow cannot run inside itself, not even through another', async () => {
  const flows = await startFlows()
  const more = { concurrency: 'none' } as const
  await flows.define({ ...more, steps: { in: { job: 'inner' }, b: task('b') } })
  const inside = { ...more, steps: { out: { job: 'flow' }, a: task('a') } }
  await assert.rejects(flows.define(inside, 'inner'), {
    code: 'invalid_workflow',
    message: 'steps.out.job: these jobs would run inside themselves: inner → flow → inner',
  })
  await assert.rejects(flows.define({ steps: [{ job: 'itself' }] }, 'itself'), {
    message: 'steps.0.job: these jobs would run inside themselves: itself → itself',
  })
  // As two that are defined at the same moment might be.
  const store = storeOn(flows.engine)
  const [projectId = 0] = await store.internProjects(['default'])
  const by = { projectId, actor: null, detail: null, request: null, address: null }
  await store.putJob({
    ...{ projectId, name: 'inner', definition: JSON.stringify(inside), expect: null },
    audit: { ...by, action: 'job.put', target: 'inner' },
  })
  const id = await flows.submit()
  const { state, message } = await flows.finish(id)
  assert.deepEqual([state, message], ['failed', 'in failed'])
  const [outer] = await flows.records(id)
  const [inner] = await flows.records(publicId('run', outer?.runId as number))
  assert.deepEqual([inner?.state, inner?.reason], ['failed', 'submission'])
  assert.match(inner?.message ?? '', /^flow is under way around this step/)
  assert.deepEqual(flows.started.toSorted(), ['a', 'b'])
  await flows.node.stop()
})

test('a step that would wait for its own workflow fails at once, and one that finds room beside it runs', async () => {
  const flows = await startFlows()
  const shared = (limit: number) => ({ concurrency: { key: 'warehouse', limit } })
  await flows.define({ ...shared(1), steps: { a: task('a') } }, 'inner')
  await flows.define({ ...shared(1), steps: { in: { job: 'inner' }, b: task('b') } })
  const id = await flows.submit()
  assert.deepEqual((await flows.finish(id)).message, 'in failed')
  const [step] = await flows.records(id)
  assert.deepEqual([step?.state, step?.reason], ['failed', 'submission'])
  assert.equal(
    step?.message,
    `it would wait for ever: ${id} holds warehouse until this step is over`,
  )
  assert.deepEqual(flows.started, ['b'])

  await flows.define({ ...shared(2), steps: { a: task('a') } }, 'inner')
  await flows.define({ ...shared(2), steps: { in: { job: 'inner' } } })
  assert.equal((await flows.finish(await flows.submit())).state, 'succeeded')
  await flows.node.stop()
})
