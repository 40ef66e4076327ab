import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StepInput } from '../../src/core/workflow/definition.ts'
import { startFlows } from './flow-world.ts'

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
