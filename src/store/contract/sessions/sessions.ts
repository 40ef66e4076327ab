import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Lease, SessionBinding } from '../../port.ts'
import { at, only, runIds, type AttemptRef } from '../fixture.ts'
import { adoptInto, BINDING, bindingOf } from './session-binding.ts'
import { onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

interface Wanted {
  readonly node?: number
  readonly session?: number
  readonly registration?: number
  readonly project?: string
  readonly held?: readonly AttemptRef[]
}

/** Opens the session if it does not exist, then returns to it; null if that is refused. */
function adopt(world: StoreWorld, wanted: Wanted) {
  const { node = world.node, session = world.session, held = [] } = wanted
  const pairs = held.map(({ runId, fence }) => ({ runId, fence }))
  return adoptInto(world.store, { name: 'worker-1', ...wanted, node, session, held: pairs })
}

async function running(
  world: StoreWorld,
  count: number,
  session = world.session,
): Promise<readonly Lease[]> {
  await world.submit(...world.newRuns(count))
  return world.claim(count, { session })
}

export function sessionsContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  test(
    'a new session has no leases',
    inWorld(async (world) => {
      assert.deepEqual(await adopt(world, {}), { adopted: [], unlisted: [], secret: null })
    }),
  )

  test(
    'a running run names the worker that has it',
    inWorld(async (world) => {
      await adopt(world, {})
      const lease = only(await running(world, 1))
      assert.equal((await world.find(lease.runId)).worker, 'worker-1')
      await world.end(lease, { to: 'retry', cause: 'exit', worker: 'worker-1' })
      assert.equal((await world.find(lease.runId)).worker, null)
    }),
  )

  test(
    'a session that returns to another node brings its leases along',
    inWorld(async (world) => {
      const leases = await running(world, 3)
      const { node } = await world.join('successor')
      const result = await adopt(world, { node, held: leases })
      assert.deepEqual(result, {
        adopted: leases.map((lease) => ({ ...lease, node })),
        unlisted: [],
        secret: null,
      })
      const of = (owner: number) => world.store.ownLeases({ node: owner, after: 0, limit: 9 })
      assert.deepEqual(runIds(await of(node)), runIds(leases))
      assert.deepEqual(await of(world.node), [])
    }),
  )

  test(
    'a lease is adopted by its fence, never by its run alone',
    inWorld(async (world) => {
      const [lease, ended] = await running(world, 2)
      assert.ok(lease && ended)
      await world.end(ended)
      const held = [
        { ...lease, fence: lease.fence + 1 },
        { ...lease, fence: lease.fence - 1 },
        ended,
        { runId: world.mint(), fence: 1 },
      ]
      const { node } = await world.join('successor')
      const result = await adopt(world, { node, held })
      assert.deepEqual(result?.adopted, [])
      assert.equal(await world.end(lease), 'ended')
    }),
  )

  test(
    'leases that the session does not list are returned, so that they can be given back',
    inWorld(async (world) => {
      const leases = await running(world, 4)
      const strangers = await running(world, 1, world.mint())
      const result = await adopt(world, { held: [at(leases, 1), at(leases, 3)] })
      assert.deepEqual(runIds(result?.adopted ?? []), [at(leases, 1).runId, at(leases, 3).runId])
      assert.deepEqual(runIds(result?.unlisted ?? []), [at(leases, 0).runId, at(leases, 2).runId])
      assert.ok(!runIds(result?.unlisted ?? []).includes(only(strangers).runId))
    }),
  )

  const REGISTRATIONS: readonly [why: string, first: number, second: number, taken: boolean][] = [
    ['a newer registration replaces the older', 1, 2, true],
    ['a much newer registration replaces the older', 1, 1_000_000, true],
    ['the same registration again is refused', 3, 3, false],
    ['an older registration, delayed, is refused', 3, 2, false],
  ]
  for (const [why, first, second, taken] of REGISTRATIONS) {
    test(
      why,
      inWorld(async (world) => {
        const [lease] = await running(world, 1)
        assert.ok(lease)
        await adopt(world, { registration: first })
        const { node } = await world.join('successor')
        const result = await adopt(world, { node, registration: second, held: [lease] })
        assert.equal(result !== null, taken)
        const owned = await world.store.ownLeases({ node, after: 0, limit: 9 })
        assert.equal(owned.length, taken ? 1 : 0, 'a refused registration moves nothing')
      }),
    )
  }

  test(
    'registrations of two sessions are independent',
    inWorld(async (world) => {
      await adopt(world, { registration: 9 })
      assert.ok(await adopt(world, { session: world.mint(), registration: 1 }))
    }),
  )

  test(
    'a session stays with its project: another gets neither it nor its leases',
    inWorld(async (world) => {
      await adopt(world, { registration: 1 })
      const leases = await running(world, 2)
      assert.equal(await adopt(world, { project: 'other', registration: 9, held: leases }), null)
      const result = await adopt(world, { registration: 2, held: leases })
      assert.deepEqual(result && runIds(result.adopted), runIds(leases))
    }),
  )

  test(
    'a session that was deleted, or never existed, cannot be returned to',
    inWorld(async (world) => {
      const { node, session, store } = world
      const comeBack = () => store.adopt(bindingOf({ node, session, registration: 9 }))
      assert.equal(await comeBack(), 'unknown')
      await adopt(world, { registration: 5 })
      await store.forgetSession({ session, registration: 5 })
      assert.equal(await comeBack(), 'unknown')
      assert.deepEqual(await store.loadSession({ session }), null)
    }),
  )

  test(
    'a session is opened once',
    inWorld(async ({ store, node, session }) => {
      assert.equal(await store.openSession({ ...BINDING, node, session }), true)
      const stranger = { ...BINDING, node, session, registration: 9, owner: 'token:9' }
      assert.equal(await store.openSession(stranger), false)
      assert.equal((await store.loadSession({ session }))?.registration, 1)
    }),
  )

  const WITH_SECRET = { secret: 'a'.repeat(64) }
  const OWNERS: readonly [
    why: string,
    opened: Partial<SessionBinding>,
    back: Partial<SessionBinding>,
    verdict: 'taken' | 'unknown',
  ][] = [
    ['the same token, without a secret', {}, {}, 'taken'],
    ['the same token, with an unexpected secret', {}, WITH_SECRET, 'taken'],
    ['another token of the same identity, without a secret', {}, { owner: 'token:2' }, 'unknown'],
    ['the same token and secret', WITH_SECRET, WITH_SECRET, 'taken'],
    ['the same token without the secret', WITH_SECRET, {}, 'unknown'],
    ['the same token with another secret', WITH_SECRET, { secret: 'b'.repeat(64) }, 'unknown'],
    [
      'another token of the same identity, with the secret',
      WITH_SECRET,
      { ...WITH_SECRET, owner: 'token:2' },
      'taken',
    ],
    [
      'a token of another identity, with the secret',
      WITH_SECRET,
      { ...WITH_SECRET, owner: 'token:2', identity: 'token two' },
      'unknown',
    ],
    [
      'another project, with the secret',
      WITH_SECRET,
      { ...WITH_SECRET, project: 'other' },
      'unknown',
    ],
  ]
  for (const [why, opened, back, verdict] of OWNERS) {
    test(
      `a session returns with ${why}: ${verdict}`,
      inWorld(async (world) => {
        const { store, node, session } = world
        await store.openSession({ ...BINDING, ...opened, node, session })
        const leases = await running(world, 2)
        const held = leases.map(({ runId, fence }) => ({ runId, fence }))
        const came = bindingOf({ ...back, node, session, registration: 2, held })
        const result = await store.adopt(came)
        if (verdict === 'unknown') {
          assert.equal(result, 'unknown')
          assert.equal((await store.loadSession({ session }))?.registration, 1)
          return
        }
        assert.ok(typeof result === 'object')
        assert.deepEqual(runIds(result.adopted), runIds(leases))
        assert.equal(result.secret, opened.secret ?? null, 'the secret stays the same')
        assert.equal(await store.adopt(came), 'superseded')
      }),
    )
  }

  test(
    'a delayed forget does not delete a newer registration',
    inWorld(async (world) => {
      await adopt(world, { registration: 5 })
      await adopt(world, { registration: 6 })
      await world.store.forgetSession({ session: world.session, registration: 5 })
      assert.equal(await adopt(world, { registration: 6 }), null)
    }),
  )

  test(
    'forgetting an unknown session is no error, and its leases stay',
    inWorld(async (world) => {
      const [lease] = await running(world, 1)
      assert.ok(lease)
      await world.store.forgetSession({ session: world.session, registration: 1 })
      await world.store.forgetSession({ session: world.session, registration: 1 })
      assert.equal(await world.stateOf(lease.runId), 'running')
    }),
  )

  test(
    'of two concurrent returns with one registration, one is accepted',
    inWorld(async (world) => {
      const leases = await running(world, 2)
      const other = await world.join('other')
      const results = await Promise.all([
        adopt(world, { registration: 2, held: leases }),
        adopt(world, { node: other.node, registration: 2, held: leases }),
      ])
      assert.equal(results.filter((result) => result !== null).length, 1)
      const owners = await world.store.findAttempts(leases)
      const nodes = new Set(owners.map((found) => found.kind === 'lease' && found.lease.node))
      assert.equal(nodes.size, 1, 'all leases went to one node')
    }),
  )

  test(
    'the largest possible ids are stored exactly',
    inWorld(async (world) => {
      const session = Number.MAX_SAFE_INTEGER
      const leases = await running(world, 1, session)
      const result = await adopt(world, { session, registration: 2 ** 31 - 1, held: leases })
      assert.equal(only(result?.adopted ?? []).session, session)
    }),
  )

  test(
    'touching a session changes nothing else about it',
    inWorld(async (world) => {
      await adopt(world, { registration: 4 })
      const before = await world.store.listSessions()
      const at = world.clock.now() + 5_000
      await world.store.touchSessions([
        { session: world.session, at },
        { session: 987_654, at },
      ])
      await world.store.touchSessions([])
      assert.deepEqual(await world.store.listSessions(), before)
    }),
  )

  test(
    'a stored session can be loaded: its last registration and its leases',
    inWorld(async (world) => {
      assert.equal(await world.store.loadSession({ session: 987_654_321 }), null)
      await adopt(world, { registration: 4 })
      const recall = () => world.store.loadSession({ session: world.session })
      const nothing = { registration: 4, project: 'default', held: [] }
      assert.deepEqual(await recall(), nothing)
      const leases = await running(world, 2)
      const held = leases.map(({ runId, fence, startedAt }) => ({ runId, fence, startedAt }))
      assert.deepEqual(await recall(), { ...nothing, held })
      await world.store.markSessionLost({ session: world.session, registration: 4 })
      await world.end(leases[0] as Lease)
      assert.deepEqual(await recall(), { ...nothing, held: held.slice(1) })
    }),
  )
}
