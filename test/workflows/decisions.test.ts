// A caller that decides about a step gets the true result, and a refused decision never takes effect later.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Store, StoreError } from '../../src/store/port.ts'
import { WORKFLOW_CALLER, type WorkflowHarness, startWorkflowHarness } from './workflow-harness.ts'

const ANN = { ...WORKFLOW_CALLER, name: 'ann' }
const YES = { isGiven: true }
const NO = { isGiven: false }

/** A workflow that waits for an approval, on a store that can be made unavailable. */
async function open() {
  const store = { isAway: false, isFull: false, refuses: '' }
  const away = () => {
    if (store.isAway) throw new StoreError('unavailable', 'not now')
  }
  const wrap = (real: Store): Store => ({
    ...real,
    async advanceWorkflows(batch) {
      away()
      if (store.isFull) throw new StoreError('unavailable', '0 bytes free', { trouble: 'full' })
      const marks = batch.transitions.flatMap((move) => move.marks)
      if (store.refuses && marks.some(({ message }) => message === store.refuses)) {
        throw new StoreError('refused', 'such a text cannot be stored')
      }
      return real.advanceWorkflows(batch)
    },
    async findWorkflows(input) {
      away()
      return real.findWorkflows(input)
    },
  })
  const workflows = await startWorkflowHarness({ wrap })
  await workflows.define({ steps: { a: { approve: {} } } })
  const id = await workflows.submit()
  await workflows.clock.advance(100)
  const answer = (what: object, signal?: AbortSignal) =>
    outcomeOf(workflows.node.admin.steps.answer(ANN, id, 'a', what as typeof YES, signal))
  return { workflows, id, store, answer, step: async () => (await workflows.steps(id))[0] }
}

/** `open` until it settles; then `done` or the error code. */
function outcomeOf(promise: Promise<unknown>): { now: string } {
  const outcome = { now: 'open' }
  promise.then(
    () => (outcome.now = 'done'),
    (error: { code: string }) => (outcome.now = error.code),
  )
  return outcome
}

const wait = ({ clock }: WorkflowHarness, ms: number) => clock.advance(ms)

test('a decision made while the store is unavailable is stored when it is back', async () => {
  const { workflows, store, answer, step } = await open()
  // The node notices the outage first, then it ends.
  store.isAway = true
  const given = answer(YES)
  await wait(workflows, 5_000)
  assert.equal(given.now, 'open')
  store.isAway = false
  await wait(workflows, 2_000)
  assert.deepEqual([given.now, await step()], ['done', 'a succeeded'])
  await workflows.node.stop()
})

test('a decision made while the disk is full is refused at once and does not take effect later', async () => {
  const { workflows, store, answer, step } = await open()
  store.isFull = true
  const given = answer(YES)
  await wait(workflows, 100)
  assert.equal(given.now, 'storage_full')
  store.isFull = false
  await wait(workflows, 3_000)
  assert.match((await step()) ?? '', /^a waiting/)
  await workflows.node.stop()
})

test('a caller whose decision was not stored may decide otherwise', async () => {
  const { workflows, store, answer, step } = await open()
  store.isAway = true
  const given = answer(YES)
  await wait(workflows, 11_000)
  assert.equal(given.now, 'store_unavailable')
  const refused = answer(NO)
  store.isAway = false
  await wait(workflows, 2_000)
  assert.deepEqual([refused.now, await step()], ['done', 'a failed refused'])
  await workflows.node.stop()
})

test('a decision is dropped if its caller disconnects before it is stored', async () => {
  const { workflows, store, answer, step } = await open()
  store.isAway = true
  const disconnect = new AbortController()
  answer(YES, disconnect.signal)
  await wait(workflows, 3_000)
  disconnect.abort()
  const refused = answer(NO)
  store.isAway = false
  await wait(workflows, 2_000)
  assert.deepEqual([refused.now, await step()], ['done', 'a failed refused'])
  await workflows.node.stop()
})

test('of two callers that end a workflow at once, one is told that it has ended', async () => {
  const { workflows, answer, step } = await open()
  const [first, second] = [answer(YES), answer(NO)]
  await wait(workflows, 2_000)
  assert.deepEqual([first.now, second.now, await step()], ['done', 'run_is_final', 'a succeeded'])
  await workflows.node.stop()
})

test("the caller gets the store's refusal of its decision, and the workflow continues", async () => {
  const { workflows, store, answer, step } = await open()
  store.refuses = 'bad'
  const given = answer({ ...YES, message: 'bad' })
  await wait(workflows, 100)
  assert.equal(given.now, 'internal')
  const again = answer({ ...YES, message: 'good' })
  await wait(workflows, 1_100)
  assert.deepEqual([again.now, await step()], ['done', 'a succeeded'])
  await workflows.node.stop()
})
