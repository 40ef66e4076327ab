import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { publicId } from '../../src/core/ids.ts'
import type { Caller } from '../../src/server/identity/caller.ts'
import { compatPrincipalOf, principalOf } from '../../src/server/identity/principal.ts'
import { succeeded } from './manual-worker.ts'
import { keysInMemory } from '../support/secret-keys.ts'
import { startInMemory } from './scheduler-in-memory.ts'

const TOKEN: Caller = { tokenId: 1, name: 'fleet', role: 'worker', project: 'default' }
const HELLO = {
  name: 'w',
  queues: ['default'],
  labels: {},
  executors: ['handler:job'],
  slots: 2,
  registration: 1,
  held: [],
  forsaken: [],
}
const POLL = { registration: 1, number: 1, answered: 0, done: [], free: 2, waitMs: 0 }
const UNKNOWN = { code: 'session_unknown' }

const originOf = (caller: Caller) => ({ project: 'default', principal: principalOf(caller) })

test('any node accepts a session with its secret, and none without', async () => {
  const first = await startInMemory()
  const second = await startInMemory({ beside: first })
  const here = first.node.workingFor(originOf(TOKEN))
  const there = second.node.workingFor(originOf(TOKEN))
  const { session, secret } = await here.register({ ...HELLO, protocol: [1, 2] })
  await first.node.clientFor('default').submit([{ job: 'job' }])
  const { runs } = await here.exchange({ id: session, secret }, POLL)
  const held = runs.map(({ run, fence }) => ({ run, fence }))
  assert.equal(held.length, 1)
  const back = { ...HELLO, session, registration: 2, held }
  await assert.rejects(there.register(back), UNKNOWN)
  await assert.rejects(there.register(back, 'guess'), UNKNOWN)
  const welcome = await there.register(back, secret)
  assert.deepEqual([welcome.lost, welcome.secret, welcome.protocol], [[], undefined, 2])
  const key = { id: session, secret }
  const done = held.map(succeeded)
  const report = { ...POLL, registration: 2, done }
  await assert.rejects(there.exchange({ id: session }, report), UNKNOWN)
  assert.deepEqual((await there.exchange(key, report)).verdicts, ['accepted'])
})

test('a token of the same identity takes a session over by its secret, with its attempts', async () => {
  const { node, clock } = await startInMemory()
  const old = node.workingFor(originOf(TOKEN))
  const rotated = node.workingFor(originOf({ ...TOKEN, tokenId: 2 }))
  const { session, secret } = await old.register({ ...HELLO, protocol: [2] })
  const key = { id: session, secret }
  await node.clientFor('default').submit([{ job: 'job' }])
  const { runs } = await old.exchange(key, POLL)
  const held = runs.map(({ run, fence }) => ({ run, fence }))
  const beat = { registration: 1, answered: 1, held }
  await assert.rejects(rotated.heartbeat(key, beat), UNKNOWN)
  const back = { ...HELLO, session, registration: 2, held, protocol: [2] }
  assert.deepEqual((await rotated.register(back, secret)).lost, [])
  await clock.advance(100)
  await assert.rejects(old.heartbeat(key, { ...beat, registration: 2 }), UNKNOWN)
  const again = { ...beat, registration: 2, answered: 0 }
  assert.deepEqual(await rotated.heartbeat(key, again), { lost: [], cancels: [] })
})

test('a session of the compat protocol cannot be used in the other protocol', async () => {
  const { node } = await startInMemory()
  const origin = { project: 'default', principal: compatPrincipalOf(TOKEN) }
  const { id } = await node.compat.sessions.register({ id: 'w', origin, isEverywhere: false })
  const working = node.workingFor(originOf(TOKEN))
  const key = { id: publicId('ses', id) }
  await assert.rejects(working.exchange(key, POLL), UNKNOWN)
  await assert.rejects(working.heartbeat(key, { registration: 1, answered: 0, held: [] }), UNKNOWN)
  await assert.rejects(working.log(key, { registration: 1, chunks: [] }), UNKNOWN)
  await assert.rejects(working.leave(key, 1), UNKNOWN)
  await assert.rejects(working.register({ ...HELLO, session: key.id, registration: 9 }), UNKNOWN)
})

test('the outcome of a run of another project is not revealed to a caller that guesses its fence', async () => {
  const { node } = await startInMemory()
  const [answer] = await node.clientFor('shop').submit([{ job: 'job' }])
  const shop = node.workingFor(originOf({ ...TOKEN, tokenId: 9, project: 'shop' }))
  const inShop = {
    project: 'shop',
    principal: principalOf({ ...TOKEN, tokenId: 9, project: 'shop' }),
  }
  const honest = node.workingFor(inShop)
  await assert.rejects(shop.register(HELLO), { code: 'forbidden' })
  const { session } = await honest.register(HELLO)
  const { runs } = await honest.exchange({ id: session }, POLL)
  const done = runs.map(succeeded)
  assert.equal(runs[0]?.run, answer?.id)
  await honest.exchange({ id: session }, { ...POLL, number: 2, answered: 1, done })
  const thief = node.workingFor(originOf(TOKEN))
  const { session: stolen } = await thief.register(HELLO)
  const { verdicts } = await thief.exchange({ id: stolen }, { ...POLL, done })
  assert.deepEqual(verdicts, ['stale'])
  const repeated = await honest.exchange({ id: session }, { ...POLL, number: 3, answered: 1, done })
  assert.deepEqual(repeated.verdicts, ['accepted'])
})

test('the attempts of a revoked token are lost when their leases expire, and not before', async () => {
  const { node, clock } = await startInMemory()
  const by = { project: 'default', actor: null, request: null, address: null }
  const input = { name: 'fleet', role: 'worker', expiresAt: null, everywhere: false } as const
  const made = await node.admin.tokens.create(by, input)
  const caller = await node.authenticator.identify(made.token)
  assert.ok(caller)
  const working = node.workingFor(originOf(caller))
  const { session } = await working.register(HELLO)
  const client = node.clientFor('default')
  const [answer] = await client.submit([{ job: 'job', retry: { max: 1 } }])
  const { runs } = await working.exchange({ id: session }, POLL)
  assert.equal(runs.length, 1)
  await node.admin.tokens.revoke(by, made.id, false)
  const beat = {
    registration: 1,
    answered: 1,
    held: runs.map(({ run, fence }) => ({ run, fence })),
  }
  await assert.rejects(working.heartbeat({ id: session }, beat), UNKNOWN)
  const stateOf = async () => (await client.getRun(answer?.id as string)).state
  await clock.advance(8_000)
  assert.equal(await stateOf(), 'running')
  await clock.advance(10_000)
  assert.equal((await client.getRun(answer?.id as string)).lost, 1)
  assert.equal(await stateOf(), 'ready')
})

test('one token has a bounded number of sessions, each counted until it ends', async () => {
  const { node, clock } = await startInMemory({ config: { maxSessionsPerToken: 3 } })
  const fleet = node.workingFor(originOf(TOKEN))
  const other = node.workingFor(originOf({ ...TOKEN, tokenId: 2, name: 'other' }))
  const hello = { ...HELLO, protocol: [2] }
  const full = { code: 'too_many_sessions', retryAfterS: 10 }
  const welcomes = await Promise.all([1, 2, 3].map(() => fleet.register(hello)))
  await assert.rejects(fleet.register(hello), full)
  await other.register(hello)
  const [first, second] = welcomes.map(({ session, secret }) => ({ id: session, secret }))
  assert.ok(first && second)
  // Registering again is not a new session, unless it needs more capacity.
  const back = { ...hello, session: first.id, registration: 2 }
  await fleet.register(back, first.secret)
  const executors = Array.from({ length: 500 }, (_, n) => `handler:${'x'.repeat(40)}${n}`)
  await assert.rejects(fleet.register({ ...back, registration: 3, executors }, first.secret), full)
  await fleet.leave(second, 1)
  await fleet.register(hello)
  await assert.rejects(fleet.register(hello), full)
  // Silent sessions end by themselves.
  await clock.advance(15_000)
  await fleet.register(hello)
  await node.stop()
})

test('compat workers of one token are bounded too', async () => {
  const { node } = await startInMemory({ config: { maxSessionsPerToken: 2 } })
  const origin = { project: 'default', principal: compatPrincipalOf(TOKEN) }
  const register = (id: string) =>
    node.compat.sessions.register({ id, origin, isEverywhere: false })
  await register('a')
  await register('b')
  await assert.rejects(register('c'), { code: 'too_many_sessions' })
  await register('a')
  await node.stop()
})

test('the row of a session has a digest of its secret, and the secret is stored nowhere', async () => {
  const { node, engine } = await startInMemory()
  const { secret } = await node.workingFor(originOf(TOKEN)).register({ ...HELLO, protocol: [2] })
  assert.ok(secret)
  const row = engine.raw.prepare<[], { secret: string }>('SELECT * FROM session').get()
  assert.equal(row?.secret, hash('sha256', secret))
  const tables = engine.raw.prepare(`SELECT name FROM sqlite_master WHERE type = 'table'`).pluck()
  for (const table of tables.all() as string[]) {
    const rows = engine.raw.prepare(`SELECT * FROM "${table}"`).all()
    assert.ok(!JSON.stringify(rows).includes(secret), table)
  }
})

test('a session of version 1 gets no secrets of projects beyond its token', async () => {
  const { node, engine, clock } = await startInMemory({ keys: keysInMemory('k1') })
  const projects = ['default', 'shop'] as const
  for (const project of projects) {
    const by = { project, actor: null, request: null, address: null }
    await node.admin.secrets.put(by, 'PASSWORD', `${project}-password`)
    const input = { job: 'job', secrets: [{ name: 'PASSWORD', as: 'env' as const }] }
    await node.clientFor(project).submit([input])
  }
  const working = node.workingFor(originOf(TOKEN))
  const hello = { ...HELLO, features: ['secrets'] }
  for (const wanted of [[], ['shop'], ['default', 'shop']]) {
    await assert.rejects(working.register({ ...hello, projects: wanted }), { code: 'forbidden' })
  }
  const { session, protocol } = await working.register(hello)
  assert.equal(protocol, 1)
  const key = { id: session }
  for (const wanted of [[], ['shop'], ['default', 'shop']]) {
    const back = { ...hello, session, registration: 2, projects: wanted }
    await assert.rejects(working.register(back), { code: 'forbidden' })
  }
  await clock.advance(1_000)
  const { runs } = await working.exchange(key, POLL)
  const given = runs.map(({ project, secrets }) => [project, secrets?.map(({ value }) => value)])
  assert.deepEqual(given, [['default', ['default-password']]])
  const done = runs.map(succeeded)
  const next = await working.exchange(key, { ...POLL, number: 2, answered: 1, done })
  assert.deepEqual(next.runs, [])
  // From before sessions had owners, of a worker that served every project.
  engine.raw.exec(
    `UPDATE session SET owner = NULL, offer = json_set(offer, '$.projects', json('[]'))`,
  )
  await assert.rejects(working.register({ ...hello, session, registration: 2 }), UNKNOWN)
})

test('a node that requires version 2 refuses existing sessions without a secret', async () => {
  const first = await startInMemory()
  const strict = await startInMemory({ beside: first, config: { minWorkerProtocol: 2 } })
  const here = first.node.workingFor(originOf(TOKEN))
  const there = strict.node.workingFor(originOf(TOKEN))
  const { session } = await here.register({ ...HELLO, protocol: [1] })
  const key = { id: session }
  assert.deepEqual((await here.exchange(key, POLL)).runs, [])
  const beat = { registration: 1, answered: 0, held: [] }
  await assert.rejects(there.exchange(key, { ...POLL, number: 2, answered: 1 }), UNKNOWN)
  await assert.rejects(there.heartbeat(key, beat), UNKNOWN)
  const back = { ...HELLO, session, registration: 2 }
  const tooOld = { code: 'protocol_unsupported' }
  await assert.rejects(there.register({ ...back, protocol: [1] }), tooOld)
  await assert.rejects(there.register({ ...back, protocol: [1, 2] }), UNKNOWN)
  await assert.rejects(there.heartbeat(key, { ...beat, registration: 2 }), UNKNOWN)
  const { protocol, secret } = await there.register({ ...HELLO, protocol: [1, 2] })
  assert.deepEqual([protocol, typeof secret], [2, 'string'])
})
