import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RetryOptions } from '../../src/core/run/retry-options.ts'
import type { StepInput } from '../../src/core/workflow/definition.ts'
import { WORKFLOW_CALLER, startWorkflowHarness } from './workflow-harness.ts'

const task = (name: string, more: StepInput = {}): StepInput => ({ task: name, ...more })
const ANN = { ...WORKFLOW_CALLER, name: 'ann' }
const BOB = { ...WORKFLOW_CALLER, name: 'bob' }

const APPROVED = {
  steps: {
    a: task('a'),
    b: {
      needs: 'a',
      approve: {
        by: ['ann'],
        timeout: '3s',
        message: 'Publish ${{ steps.a.output }}?',
        input: { note: { type: 'string' } },
      },
    },
    c: task('c', { needs: 'b', with: '${{ steps.b.output.note }}' }),
  },
} as const

test('an approval waits for its approvers and returns their answer', async () => {
  const workflows = await startWorkflowHarness()
  const { steps: control } = workflows.node.admin
  await workflows.define(APPROVED)
  workflows.behave = () => ({ result: 42 })
  const id = await workflows.submit()
  await workflows.work()
  const { state, approval } = await control.step('default', id, 'b')
  assert.deepEqual([state, approval?.message], ['waiting', 'Publish 42?'])

  const yes = (input: object) => ({ isGiven: true, input: input as { note: string } })
  await assert.rejects(control.answer(BOB, id, 'b', yes({ note: 'no' })), { code: 'forbidden' })
  await assert.rejects(control.answer(ANN, id, 'b', yes({})), { code: 'missing_field' })
  await assert.rejects(control.answer(ANN, id, 'a', yes({})), { code: 'step_not_waiting' })
  await assert.rejects(control.answer(ANN, id, 'x', yes({})), { code: 'step_not_found' })
  await control.answer(ANN, id, 'b', yes({ note: 'go' }))
  await assert.rejects(control.answer(ANN, id, 'b', yes({ note: 'go' })), {
    code: 'step_not_waiting',
  })
  assert.equal((await workflows.finish(id)).state, 'succeeded')
  assert.deepEqual(workflows.started, ['a', 'c "go"'])
  await assert.rejects(control.answer(ANN, id, 'b', yes({})), { code: 'run_is_final' })
  await workflows.node.stop()
})

test('an approval that is refused or expires has failed', async () => {
  const workflows = await startWorkflowHarness()
  await workflows.define(APPROVED)
  const refused = await workflows.submit()
  await workflows.work()
  const no = { isGiven: false, message: 'not on a friday' }
  await workflows.node.admin.steps.answer(ANN, refused, 'b', no)
  assert.equal((await workflows.finish(refused)).message, 'b failed')
  assert.deepEqual((await workflows.steps(refused)).slice(1), [
    'b failed refused',
    'c skipped needs',
  ])

  const late = await workflows.submit()
  await workflows.work()
  await workflows.clock.advance(2_000)
  assert.equal((await workflows.steps(late))[1], 'b waiting')
  await workflows.clock.advance(3_000)
  assert.equal((await workflows.finish(late)).state, 'failed')
  assert.deepEqual((await workflows.steps(late)).slice(1), ['b failed expired', 'c skipped needs'])
  await workflows.node.stop()
})

test('a step skipped by a user counts as done; one that has begun cannot be skipped', async () => {
  const workflows = await startWorkflowHarness()
  const { steps: control } = workflows.node.admin
  await workflows.define({
    steps: { a: task('a'), b: task('b', { needs: 'a' }), c: task('c', { needs: 'b' }) },
  })
  workflows.behave = ({ task: name }) => (name === 'a' ? 'hold' : { result: null })
  const id = await workflows.submit()
  await workflows.work()
  await assert.rejects(control.skip(WORKFLOW_CALLER, id, 'a', undefined), {
    code: 'step_not_waiting',
  })
  await control.skip(WORKFLOW_CALLER, id, 'b', undefined)
  await workflows.work()
  assert.deepEqual(await workflows.steps(id), ['a running', 'b skipped operator', 'c succeeded'])
  await workflows.stopHeld()
  assert.equal((await workflows.finish(id)).state, 'failed')
  await workflows.node.stop()
})

test('of 1,000 items with 7 failures a retry runs those 7 and the steps that depend on them, in the same wave', async () => {
  const workflows = await startWorkflowHarness()
  const bad = new Set([0, 13, 14, 500, 501, 998, 999])
  await workflows.define({
    steps: {
      list: task('list'),
      load: task('load', {
        needs: 'list',
        each: '${{ steps.list.output }}',
        with: '${{ item }}',
      }),
      other: task('a'),
      report: task('report', { needs: 'load', with: '${{ length(steps.load.output) }}' }),
      clean: task('clean', { finally: true }),
    },
  })
  let isBroken = true
  workflows.behave = ({ task: name, input }) => {
    if (name === 'list') return { result: Array.from({ length: 1_000 }, (_, item) => item) }
    return isBroken && name === 'load' && bad.has(Number(input)) ? 'failed' : { result: name }
  }
  const id = await workflows.submit()
  assert.equal((await workflows.finish(id)).message, 'load failed')
  assert.equal(workflows.started.length, 1_003)

  workflows.started.length = 0
  isBroken = false
  const retry = (run: string, how: RetryOptions) => workflows.client.retry(run, undefined, how)
  await assert.rejects(retry(id, { from: ['nope'] }), { code: 'step_not_found' })
  const again = await retry(id, { only: 'failed' })
  await workflows.finish(again.id)
  const { state, retryOf, workflow } = await workflows.client.getRun(again.id)
  assert.deepEqual([state, retryOf, workflow?.wave], ['succeeded', id, 1])
  assert.deepEqual(workflows.started, [
    ...[...bad].map((item) => `load ${item}`),
    'report 1000',
    'clean',
  ])
  await workflows.node.stop()
})
