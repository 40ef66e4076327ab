// Who decides about a step hears what became of it, and what was answered never happens afterwards.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Store, StoreError } from '../../src/store/port.ts'
import { BY, type FlowWorld, startFlows } from './workflow-harness.ts'

const ANN = { ...BY, name: 'ann' }
const YES = { isGiven: true }
const NO = { isGiven: false }

/** A flow that waits to be approved, for as long as it takes, on a store that is away when told so. */
async function open() {
  const store = { isAway: false, refuses: '' }
  const away = () => {
    if (store.isAway) throw new StoreError('unavailable', 'not now')
  }
  const wrap = (real: Store): Store => ({
    ...real,
    async advanceFlows(batch) {
      away()
      const marks = batch.moves.flatMap((move) => move.marks)
      if (store.refuses && marks.some(({ message }) => message === store.refuses)) {
        throw new StoreError('refused', 'such a text cannot be stored')
      }
      return real.advanceFlows(batch)
    },
    async findFlows(input) {
      away()
      return real.findFlows(input)
    },
  })
  const flows = await startFlows({ wrap })
  await flows.define({ steps: { a: { approve: {} } } })
  const id = await flows.submit()
  await flows.clock.advance(100)
  const answer = (what: object, signal?: AbortSignal) =>
    outcomeOf(flows.node.admin.steps.answer(ANN, id, 'a', what as typeof YES, signal))
  return { flows, id, store, answer, step: async () => (await flows.steps(id))[0] }
}

/** `open` until it is over; then `done`, or the code of the error. */
function outcomeOf(promise: Promise<unknown>): { now: string } {
  const outcome = { now: 'open' }
  promise.then(
    () => (outcome.now = 'done'),
    (error: { code: string }) => (outcome.now = error.code),
  )
  return outcome
}

const wait = ({ clock }: FlowWorld, ms: number) => clock.advance(ms)

test('what was decided while the store is away is written down when it is back', async () => {
  const { flows, store, answer, step } = await open()
  // It is known to the node, and then it is not.
  store.isAway = true
  const given = answer(YES)
  await wait(flows, 5_000)
  assert.equal(given.now, 'open')
  store.isAway = false
  await wait(flows, 2_000)
  assert.deepEqual([given.now, await step()], ['done', 'a succeeded'])
  await flows.node.stop()
})

test('who was told that it was not written down may decide otherwise', async () => {
  const { flows, store, answer, step } = await open()
  store.isAway = true
  const given = answer(YES)
  await wait(flows, 11_000)
  assert.equal(given.now, 'store_unavailable')
  const refused = answer(NO)
  store.isAway = false
  await wait(flows, 2_000)
  assert.deepEqual([refused.now, await step()], ['done', 'a failed refused'])
  await flows.node.stop()
})

test('what somebody decided who left before it was written down is not done', async () => {
  const { flows, store, answer, step } = await open()
  store.isAway = true
  const gone = new AbortController()
  answer(YES, gone.signal)
  await wait(flows, 3_000)
  gone.abort()
  const refused = answer(NO)
  store.isAway = false
  await wait(flows, 2_000)
  assert.deepEqual([refused.now, await step()], ['done', 'a failed refused'])
  await flows.node.stop()
})

test('of two who end a flow together one hears that it is over', async () => {
  const { flows, answer, step } = await open()
  const [first, second] = [answer(YES), answer(NO)]
  await wait(flows, 2_000)
  assert.deepEqual([first.now, second.now, await step()], ['done', 'run_is_final', 'a succeeded'])
  await flows.node.stop()
})

test('what the store refuses is told whoever decided it, and the flow goes on', async () => {
  const { flows, store, answer, step } = await open()
  store.refuses = 'bad'
  const given = answer({ ...YES, message: 'bad' })
  await wait(flows, 100)
  assert.equal(given.now, 'internal')
  const again = answer({ ...YES, message: 'good' })
  await wait(flows, 1_100)
  assert.deepEqual([again.now, await step()], ['done', 'a succeeded'])
  await flows.node.stop()
})
