import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContainerWork } from '../../src/core/work/container-work.ts'
import { publicId } from '../../src/core/ids.ts'
import type { Submission } from '../../src/core/wire/protocol.ts'
import { startInMemory } from './scheduler-in-memory.ts'
import { registerManualWorker } from './manual-worker.ts'

const container: ContainerWork = {
  executor: 'container',
  image: 'none',
  network: 'none',
  pull: 'never',
}

/** A node with a worker that runs a handler and a container, and a second node. */
async function open() {
  const first = await startInMemory()
  const client = first.node.clientFor('default')
  const embedded = await registerManualWorker(client, { executors: ['container'] })
  const remote = await registerManualWorker(client, { jobs: ['other'], name: 'remote' })
  const submissions: Submission[] = [
    { job: 'job' },
    { job: 'c', work: container },
    { job: 'other' },
  ]
  const [handler, boxed, other] = await client.submit(submissions)
  assert.equal((await embedded.take()).length, 2)
  assert.equal((await remote.take()).length, 1)
  const second = await startInMemory({ beside: first })
  const stateOf = async (id = '') => (await second.node.clientFor('default').getRun(id)).state
  return {
    ...second,
    first,
    embedded,
    handler: handler?.id,
    boxed: boxed?.id,
    other: other?.id,
    stateOf,
  }
}

test('attempts of a session that has provably ended are lost at once, and those of others are not', async () => {
  const { node, embedded, handler, boxed, other, stateOf } = await open()
  await node.formerSessions.release([embedded.session])
  assert.deepEqual(
    [await stateOf(handler), await stateOf(other)],
    ['ready', 'running'],
    'only its own',
  )
  assert.equal(await stateOf(boxed), 'running', 'a container may run on without its worker')
  const [attempt] = await node.admin.runs.attempts('default', handler ?? '')
  assert.equal(attempt?.cause, 'lost')
  // A second call changes nothing.
  await node.formerSessions.release([embedded.session])
  assert.equal(await stateOf(handler), 'ready')
})

test('an unknown session changes nothing', async () => {
  const { node, handler, stateOf } = await open()
  await node.formerSessions.release([publicId('ses', 7)])
  assert.equal(await stateOf(handler), 'running')
})

test('`why` names what is awaited while a session is neither back nor provably ended', async () => {
  const { node, first, embedded, handler } = await open()
  const why = () => node.admin.runs.why('default', handler ?? '')
  assert.equal((await why()).code, 'running')
  await first.node.stop()
  const unknown = await why()
  assert.equal(unknown.code, 'awaiting_worker')
  assert.match(unknown.details.join(), /^Waiting: the worker may still come back/)
  node.formerSessions.await([embedded.session], 'a launcher is not gone yet')
  assert.deepEqual((await why()).details, ['Waiting: a launcher is not gone yet.'])
  await node.formerSessions.release([embedded.session])
  assert.equal((await why()).code, 'no_worker')
})
