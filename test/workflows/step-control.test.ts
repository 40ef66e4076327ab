import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RetryHow } from '../../src/core/run/retry-options.ts'
import type { StepInput } from '../../src/core/workflow/definition.ts'
import { BY, startFlows } from './workflow-harness.ts'

const task = (name: string, more: StepInput = {}): StepInput => ({ task: name, ...more })
const ANN = { ...BY, name: 'ann' }
const BOB = { ...BY, name: 'bob' }

const APPROVED = {
  steps: {
    a: task('a'),
    b: {
      needs: 'a',
      approve: {
        ...{ by: ['ann'], timeout: '3s', message: 'Publish ${{ steps.a.output }}?' },
        input: { note: { type: 'string' } },
      },
    },
    c: task('c', { needs: 'b', with: '${{ steps.b.output.note }}' }),
  },
} as const

test('an approval waits for those it is for, and gives what they answered', async () => {
  const flows = await startFlows()
  const { steps: control } = flows.node.admin
  await flows.define(APPROVED)
  flows.behave = () => ({ result: 42 })
  const id = await flows.submit()
  await flows.work()
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
  assert.equal((await flows.finish(id)).state, 'succeeded')
  assert.deepEqual(flows.started, ['a', 'c "go"'])
  await assert.rejects(control.answer(ANN, id, 'b', yes({})), { code: 'run_is_final' })
  await flows.node.stop()
})

test('an approval that is refused, or that nobody gives in time, has failed', async () => {
  const flows = await startFlows()
  await flows.define(APPROVED)
  const refused = await flows.submit()
  await flows.work()
  const no = { isGiven: false, message: 'not on a friday' }
  await flows.node.admin.steps.answer(ANN, refused, 'b', no)
  assert.equal((await flows.finish(refused)).message, 'b failed')
  assert.deepEqual((await flows.steps(refused)).slice(1), ['b failed refused', 'c skipped needs'])

  const late = await flows.submit()
  await flows.work()
  await flows.clock.advance(2_000)
  assert.equal((await flows.steps(late))[1], 'b waiting')
  await flows.clock.advance(3_000)
  assert.equal((await flows.finish(late)).state, 'failed')
  assert.deepEqual((await flows.steps(late)).slice(1), ['b failed expired', 'c skipped needs'])
  await flows.node.stop()
})

test('a step that somebody skips counts as done; one that has begun cannot be skipped', async () => {
  const flows = await startFlows()
  const { steps: control } = flows.node.admin
  await flows.define({
    steps: { a: task('a'), b: task('b', { needs: 'a' }), c: task('c', { needs: 'b' }) },
  })
  flows.behave = ({ task: name }) => (name === 'a' ? 'hold' : { result: null })
  const id = await flows.submit()
  await flows.work()
  await assert.rejects(control.skip(BY, id, 'a', undefined), { code: 'step_not_waiting' })
  await control.skip(BY, id, 'b', undefined)
  await flows.work()
  assert.deepEqual(await flows.steps(id), ['a running', 'b skipped operator', 'c succeeded'])
  await flows.stopHeld()
  assert.equal((await flows.finish(id)).state, 'failed')
  await flows.node.stop()
})

test('of 1,000 items with 7 failures 7 run again, and what depends on them, in the same wave', async () => {
  const flows = await startFlows()
  const bad = new Set([0, 13, 14, 500, 501, 998, 999])
  await flows.define({
    steps: {
      list: task('list'),
      load: task('load', {
        ...{ needs: 'list', each: '${{ steps.list.output }}', with: '${{ item }}' },
      }),
      other: task('a'),
      report: task('report', { needs: 'load', with: '${{ length(steps.load.output) }}' }),
      clean: task('clean', { finally: true }),
    },
  })
  let isBroken = true
  flows.behave = ({ task: name, input }) => {
    if (name === 'list') return { result: Array.from({ length: 1_000 }, (_, item) => item) }
    return isBroken && name === 'load' && bad.has(Number(input)) ? 'failed' : { result: name }
  }
  const id = await flows.submit()
  assert.equal((await flows.finish(id)).message, 'load failed')
  assert.equal(flows.started.length, 1_003)

  flows.started.length = 0
  isBroken = false
  const retry = (run: string, how: RetryHow) => flows.client.retry(run, undefined, how)
  await assert.rejects(retry(id, { from: ['nope'] }), { code: 'step_not_found' })
  const again = await retry(id, { only: 'failed' })
  await flows.finish(again.id)
  const { state, retryOf, workflow } = await flows.client.getRun(again.id)
  assert.deepEqual([state, retryOf, workflow?.wave], ['succeeded', id, 1])
  assert.deepEqual(flows.started, [
    ...[...bad].map((item) => `load ${item}`),
    ...['report 1000', 'clean'],
  ])
  await flows.node.stop()
})
