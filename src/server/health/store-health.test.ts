import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVirtualClock } from '../../../test/support/virtual-clock.ts'
import { StoreError } from '../../store/port.ts'
import { createReady } from './readiness.ts'
import { createStoreClock } from '../cluster/store-clock.ts'
import { createStoreHealth } from './store-health.ts'

function setUp() {
  const clock = createVirtualClock()
  const calls: string[] = []
  const hangs = new Set<string>()
  const fails: { probe?: Error; inspect?: Error } = {}
  const verb = (name: 'probe' | 'inspect') => async () => {
    calls.push(name)
    if (hangs.has(name)) await new Promise(() => {})
    if (fails[name]) throw fails[name]
  }
  const lines: string[] = []
  const write = (message: string, fields: object = {}) =>
    void lines.push(`${message} ${JSON.stringify(fields)}`)
  const log = { error: write, warn: write, info: write }
  const room: { free: number | null } = { free: null }
  const freeBytes = async () => room.free
  const store = { probe: verb('probe'), inspect: verb('inspect'), freeBytes, location: '/data' }
  const health = createStoreHealth({ store, clock, log })
  const promise = { isKept: true }
  const ready = createReady({
    health,
    storeClock: createStoreClock({ clock, onEvent: () => {} }),
    clock,
    mayPromise: () => promise.isKept,
    whyAbsent: () => undefined,
  })
  return { promise, hangs, clock, calls, fails, room, lines, health, ready }
}

const full = new StoreError('unavailable', '/data has 0 bytes free', { trouble: 'full' })
const damaged = new StoreError('unavailable', 'page 7 is damaged', { trouble: 'damaged' })

test('readiness tries one write for all requests within two seconds', async () => {
  const { clock, calls, ready } = setUp()
  await Promise.all([ready(), ready(), ready()])
  await ready()
  assert.deepEqual(calls, ['probe'])
  await clock.advance(2_000)
  assert.deepEqual(await ready(), { ok: true })
  assert.deepEqual(calls, ['probe', 'probe'])
})

test('a full disk makes the node not ready until a write succeeds, and each change is one log line', async () => {
  const { clock, fails, lines, health, ready } = setUp()
  fails.probe = full
  const reason = 'the disk is full: nothing can be written'
  assert.deepEqual(await ready(), { ok: false, reason })
  await clock.advance(2_000)
  assert.deepEqual(await ready(), { ok: false, reason })
  assert.equal(health.failure?.kind, 'full')
  delete fails.probe
  await clock.advance(2_000)
  assert.deepEqual(await ready(), { ok: true })
  assert.deepEqual(lines, [
    'the store cannot be used {"kind":"full","reason":"/data has 0 bytes free"}',
    'the store works again {"kind":"full"}',
  ])
})

test('a failed statement counts at once and is checked every two seconds', async () => {
  const { health, fails, ready } = setUp()
  let woken = 0
  health.onFailure(() => void (woken += 1))
  assert.deepEqual(await health.step(), { more: false, idleMs: 60_000 })
  health.note(new Error('something else'))
  assert.equal((await ready()).ok, true)
  fails.probe = full
  health.note(full)
  assert.deepEqual([(await ready()).ok, woken], [false, 1])
  assert.deepEqual(await health.step(), { more: false, idleMs: 2_000 })
})

test('damage found by the inspection every minute makes the node not ready', async () => {
  const { clock, fails, calls, health, ready } = setUp()
  fails.inspect = damaged
  fails.probe = damaged
  await health.step()
  assert.deepEqual(calls, ['inspect'])
  await clock.advance(5_000)
  assert.deepEqual(await ready(), {
    ok: false,
    reason: 'the database is damaged: restore a backup',
  })
})

test('a nearly full disk counts as full although a small write still succeeds', async () => {
  const { clock, room, ready } = setUp()
  room.free = 100_000
  assert.equal((await ready()).ok, false)
  room.free = 1_000_000
  await clock.advance(2_000)
  assert.equal((await ready()).ok, true)
})

test('readiness is answered while a write hangs', async () => {
  const { clock, hangs, promise, ready } = setUp()
  hangs.add('probe')
  const answer = ready()
  await clock.advance(3_000)
  assert.deepEqual(await answer, {
    ok: false,
    reason: 'the database does not answer: a write is taking too long',
  })
  promise.isKept = false
  const sooner = ready()
  await clock.advance(500)
  assert.deepEqual(await sooner, { ok: false, reason: 'the node row could not be renewed' })
})

test('a failed inspection is logged and says nothing about the store', async () => {
  const { fails, lines, health } = setUp()
  fails.inspect = new StoreError('unavailable', 'no thread could be started')
  assert.deepEqual(await health.step(), { more: false, idleMs: 60_000 })
  assert.equal(health.failure, null)
  assert.equal(lines.length, 1)
  assert.match(lines[0] ?? '', /^the store could not be inspected for damage/)
})

test('a trouble that is noted while a write is tried is not forgotten when the write succeeds', async () => {
  const probing = Promise.withResolvers<void>()
  const clock = createVirtualClock()
  const health = createStoreHealth({
    store: {
      probe: () => probing.promise,
      inspect: async () => {},
      freeBytes: async () => null,
      location: '/data',
    },
    clock,
  })
  const checking = health.check()
  health.note(damaged)
  probing.resolve()
  await checking
  assert.equal(health.failure?.kind, 'damaged')
  assert.equal((await health.check())?.kind, 'damaged')
})
