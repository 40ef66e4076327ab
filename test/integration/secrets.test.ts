import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditEntryFor, type RequestedBy } from '../../src/server/identity/requested-by.ts'
import { openVault } from '../../src/server/secrets/vault.ts'
import type { Store } from '../../src/store/port.ts'
import { createStoreOnEngine } from '../../src/store/sqlite/store.ts'
import { keysInMemory } from '../support/secret-keys.ts'
import { type Given, startInMemory } from './scheduler-in-memory.ts'
import { registerManualWorker } from './manual-worker.ts'

const BY: RequestedBy = { project: 'default', actor: null, request: null, address: null }
const FEATURES = { features: ['secrets'] }
const PASSWORD = { name: 'PASSWORD', as: 'env' } as const

async function setUp(given: Given = {}) {
  const world = await startInMemory({ keys: keysInMemory('k1'), ...given })
  const client = world.node.clientFor('default')
  const set = (value: string, name = 'PASSWORD') => world.node.admin.secrets.put(BY, name, value)
  return { ...world, client, set }
}

test('a worker that holds the lease gets the current values of the secrets', async () => {
  const { client, set } = await setUp()
  await set('first value')
  await client.submit([{ job: 'job', secrets: [PASSWORD] }])
  await set('second value')
  const worker = await registerManualWorker(client, FEATURES)
  const [run] = await worker.take()
  assert.deepEqual(run?.secrets, [{ ...PASSWORD, value: 'second value' }])
  assert.deepEqual((await client.getRun(run?.run ?? '')).secrets, [PASSWORD])
})

test('a worker that does not support secrets never gets a run that needs some', async () => {
  const { client, set, node, clock } = await setUp()
  await set('hunter22')
  const old = await registerManualWorker(client)
  const [submitted] = await client.submit([{ job: 'job', secrets: [PASSWORD] }, { job: 'job' }])
  await clock.advance(1_000)
  assert.equal((await old.take()).length, 1)
  const why = await node.admin.runs.why('default', submitted?.id ?? '')
  assert.match(why.sentence, /for a worker that is new enough for secrets\.$/)
  const able = await registerManualWorker(client, FEATURES)
  assert.equal((await able.take())[0]?.run, submitted?.id)
})

test('a secret that does not exist, or belongs to another project, is refused at submission', async () => {
  const { client, set, node } = await setUp()
  const submit = client.submit([{ job: 'job', secrets: [PASSWORD] }])
  await assert.rejects(submit, { code: 'secret_not_found', message: /PASSWORD/ })
  await set('hunter22')
  const elsewhere = node.clientFor('other').submit([{ job: 'job', secrets: [PASSWORD] }])
  await assert.rejects(elsewhere, { code: 'secret_not_found' })
})

test('a secret that was deleted meanwhile fails the run once, with an explanation', async () => {
  const { client, set, node, clock } = await setUp()
  await set('hunter22')
  const retry = { max: 5 }
  const [submitted] = await client.submit([{ job: 'job', secrets: [PASSWORD], retry }])
  await node.admin.secrets.remove(BY, 'PASSWORD')
  const worker = await registerManualWorker(client, FEATURES)
  assert.deepEqual(await worker.take(), [])
  await clock.advance(1_000)
  const { state, cause, message, attempt } = await client.getRun(submitted?.id ?? '')
  assert.deepEqual([state, cause, attempt], ['failed', 'start_error', 1])
  assert.match(message ?? '', /the secret PASSWORD was deleted/)
})

test('a row that was replaced by another one is not opened', async () => {
  const { client, set, engine, clock } = await setUp()
  await set('the wrong one', 'OTHER')
  await set('hunter22')
  engine.raw.exec(`UPDATE secret SET sealed = (SELECT sealed FROM secret WHERE name = 'OTHER')`)
  const [submitted] = await client.submit([{ job: 'job', secrets: [PASSWORD] }])
  const worker = await registerManualWorker(client, FEATURES)
  assert.deepEqual(await worker.take(), [])
  await clock.advance(1_000)
  const { message } = await client.getRun(submitted?.id ?? '')
  assert.match(message ?? '', /the secret PASSWORD cannot be opened/)
})

test('a run follows the secrets of its job, unless it brings its own work', async () => {
  const { client, set, node } = await setUp()
  await set('hunter22')
  await node.admin.jobs.put(BY, 'job', { secrets: ['PASSWORD'] }, null)
  const worker = await registerManualWorker(client, { ...FEATURES, jobs: ['job', 'task'] })
  await client.submit([{ job: 'job' }, { job: 'job', task: 'task' }])
  const [following, own] = await worker.take()
  assert.deepEqual(following?.secrets, [{ ...PASSWORD, value: 'hunter22' }])
  assert.equal(own?.secrets, undefined)
})

test('the store remembers its keys: a start without them is refused', async () => {
  const { engine, set } = await setUp()
  await set('hunter22')
  const store = createStoreOnEngine(engine)
  const start = (...ids: string[]) => openVault(store, keysInMemory(...ids))
  await start('k2', 'k1')
  const refusal = { code: 'config_invalid' }
  await assert.rejects(start(), { ...refusal, message: /holds no key, .* sealed with the key k1/ })
  await assert.rejects(start('k2'), { ...refusal, message: /lacks the key k1/ })
  const other = await keysInMemory('k9').read()
  const sameName = { name: 'a file', read: async () => other.map((key) => ({ ...key, id: 'k1' })) }
  await assert.rejects(openVault(store, sameName), { ...refusal, message: /holds another key k1/ })
})

test('a new key seals nothing until every node has it, then everything is sealed again', async () => {
  const keys = { first: keysInMemory('k1'), second: keysInMemory('k1') }
  const first = await setUp({ keys: keys.first })
  const second = await startInMemory({ beside: first, keys: keys.second })
  const { secrets } = first.node.admin
  await first.set('the first', 'ONE')
  const keyOf = async () => (await secrets.list('default', {})).data.map(({ key }) => key)

  keys.first.ids = ['k2', 'k1']
  await first.clock.advance(10_000)
  await first.set('the second', 'TWO')
  assert.deepEqual(await keyOf(), ['k1', 'k1'])
  await assert.rejects(secrets.rotate(BY), { code: 'secret_key_missing', message: /every node/ })

  keys.second.ids = ['k1', 'k2']
  await first.clock.advance(10_000)
  assert.deepEqual(await secrets.rotate(BY), {
    key: 'k2',
    resealed: 2,
    broken: [],
    keys: [{ id: 'k2', secrets: 2 }],
  })
  assert.deepEqual(await keyOf(), ['k2', 'k2'])
  assert.deepEqual(await secrets.rotate(BY), {
    key: 'k2',
    resealed: 0,
    broken: [],
    keys: [{ id: 'k2', secrets: 2 }],
  })
  await second.node.stop()
  await openVault(createStoreOnEngine(first.engine), keysInMemory('k2'))
})

test('a node that was down during a key change stays down until it has the new key', async () => {
  const keys = { first: keysInMemory('k1'), second: keysInMemory('k1') }
  const first = await setUp({ keys: keys.first })
  let isAway = false
  const wrap = (store: Store): Store => ({
    ...store,
    heartbeat: (input) => (isAway ? Promise.reject(new Error('away')) : store.heartbeat(input)),
  })
  const second = await startInMemory({ beside: first, keys: keys.second, wrap })
  const { clock, client } = first
  await first.set('hunter22')
  isAway = true
  keys.first.ids = ['k2', 'k1']
  await clock.advance(120_000)
  await first.node.admin.secrets.rotate(BY)
  const [submitted] = await client.submit([{ job: 'job', secrets: [PASSWORD] }])
  second.errors.length = 0

  isAway = false
  await clock.advance(10_000)
  const lacks = /lacks the key k2/
  const { ok, reason } = await second.node.ready()
  assert.equal(ok, false)
  assert.match(reason ?? '', lacks)
  assert.deepEqual(second.errors.length, 1, 'it says so once')
  assert.match(String(second.errors[0]), lacks)
  const there = second.node.clientFor('default')
  await assert.rejects(registerManualWorker(there, FEATURES))

  keys.second.ids = ['k2']
  await clock.advance(10_000)
  assert.deepEqual(await second.node.ready(), { ok: true })
  const worker = await registerManualWorker(there, FEATURES)
  const [run] = await worker.take()
  assert.deepEqual([run?.run, run?.secrets?.[0]?.value], [submitted?.id, 'hunter22'])
})

test('a run for which a node lacks the key goes to another node, uncounted', async () => {
  const keys = { first: keysInMemory('k1'), second: keysInMemory('k1') }
  const first = await setUp({ keys: keys.first })
  const second = await startInMemory({ beside: first, keys: keys.second })
  await first.set('hunter22')
  // Sealed by a node that listed the other nodes just before the second one joined.
  const store = { ...createStoreOnEngine(first.engine), nodesWithoutKey: async () => [] }
  const audit = auditEntryFor(BY, null, 'secret.rotate', 'keys')
  await (await openVault(store, keysInMemory('k2', 'k1'))).rotate(audit)
  keys.first.ids = ['k2', 'k1']

  const [submitted] = await first.client.submit([{ job: 'job', secrets: [PASSWORD] }])
  const there = await registerManualWorker(second.node.clientFor('default'), FEATURES)
  assert.deepEqual(await there.take(), [])
  await first.clock.advance(4_000)
  const { state, lost } = await first.client.getRun(submitted?.id ?? '')
  assert.deepEqual([state, lost], ['ready', 0])
  assert.match((await second.node.ready()).reason ?? '', /lacks the key k2/)
  const here = await registerManualWorker(first.client, FEATURES)
  const [run] = await here.take()
  assert.equal(run?.secrets?.[0]?.value, 'hunter22')
})

test('a node without a key accepts no secrets, and says so', async () => {
  const { node } = await startInMemory()
  const put = node.admin.secrets.put(BY, 'PASSWORD', 'hunter22')
  await assert.rejects(put, { code: 'secret_key_missing' })
})
