import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeliveryRecord } from '../port.ts'
import { ids, only } from './fixture.ts'
import { auditEntry, claim, deliver, deliveryTo, find, outboxOf, put } from './webhook-fixture.ts'
import { onFreshStores, onSharedStore, type OpenStore, type World } from './world.ts'

const TRIED = { state: 'pending', status: 500, error: 'it said 500', tookMs: 12 } as const

export function deliveriesContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)
  const listOf = async (world: World): Promise<readonly DeliveryRecord[]> => {
    const { id: webhookId } = await find(world)
    return world.store.listDeliveries({ webhookId, before: 2 ** 52, limit: 50 })
  }
  const settle = async (world: World, id: number, claimed: number, extra: object = {}) => {
    const { id: webhookId } = await find(world)
    const usual = { id, webhookId, claim: claimed, waitMs: null, disable: null }
    return world.store.settleDelivery({ ...usual, ...TRIED, ...extra })
  }

  test(
    'an event becomes its deliveries once, whoever else expands it',
    inWorld(async (world) => {
      await put(world)
      const { id: webhookId } = await find(world)
      const lease = await world.start()
      await world.end(lease, { to: 'failed', cause: 'exit' })
      const event = only(await outboxOf(world))
      const expand = () => {
        const deliveries = [deliveryTo(webhookId, world, lease.runId)]
        return world.store.expandOutbox([{ id: event.id, deliveries }])
      }
      await Promise.all([expand(), expand()])
      await expand()
      assert.deepEqual(await outboxOf(world), [])
      const made = only(await listOf(world))
      const now = world.clock.now()
      assert.deepEqual(made, {
        ...{ id: made.id, webhookId, event: 'run.failed', runId: lease.runId, body: '{"a":"ä"}' },
        ...{ state: 'pending', attempts: 0, since: now, createdAt: now, nextAt: now },
        ...{ lastAt: null, lastStatus: null, lastError: null, tookMs: null },
      })
    }),
  )

  test(
    'what is due is taken by one, and by another once the lease has run out',
    inWorld(async (world) => {
      await put(world)
      const { id } = await deliver(world)
      const both = await Promise.all([claim(world, 1), claim(world, 2)])
      const taken = only(both.flat())
      assert.deepEqual([taken.id, taken.attempts, taken.webhook], [id, 1, 'pager'])
      assert.deepEqual(taken.secrets, ['sealed one'])
      const first = both[0].length === 1 ? 1 : 2
      world.clock.advance(59_999)
      assert.deepEqual(await claim(world, 3), [])
      world.clock.advance(1)
      assert.equal(only(await claim(world, 3)).attempts, 2)
      assert.equal(await settle(world, id, first), false, 'its claim is an old one')
      assert.equal(await settle(world, id, 3, { state: 'delivered', status: 200 }), true)
      assert.equal(await settle(world, id, 3, { state: 'failed' }), false, 'it is settled')
      const [done] = await listOf(world)
      assert.deepEqual([done?.state, done?.nextAt, done?.attempts], ['delivered', null, 2])
    }),
  )

  test(
    'a try that failed comes again when it is due, and says what was wrong',
    inWorld(async (world) => {
      await put(world)
      const { id } = await deliver(world)
      await claim(world, 1)
      const at = world.clock.now()
      assert.equal(await settle(world, id, 1, { waitMs: 5_000 }), true)
      const [tried] = await listOf(world)
      assert.deepEqual(
        [tried?.lastStatus, tried?.lastError, tried?.tookMs, tried?.lastAt, tried?.nextAt],
        [500, 'it said 500', 12, at, at + 5_000],
      )
      assert.equal((await find(world)).failingSince, at)
      world.clock.advance(4_999)
      assert.deepEqual(await claim(world, 2), [])
      world.clock.advance(1)
      only(await claim(world, 2))
      await settle(world, id, 2, { waitMs: 1 })
      assert.equal((await find(world)).failingSince, at, 'since the first')
      world.clock.advance(1)
      await claim(world, 3)
      await settle(world, id, 3, { state: 'delivered', status: 204, error: null })
      assert.equal((await find(world)).failingSince, null)
    }),
  )

  test(
    'a try broken off from this side says nothing of the endpoint',
    inWorld(async (world) => {
      await put(world)
      const { id } = await deliver(world)
      await claim(world, 1)
      await settle(world, id, 1, { waitMs: 0, status: null, error: null })
      assert.equal((await find(world)).failingSince, null)
      only(await claim(world, 2))
    }),
  )

  test(
    'whether there is anything to do is known without looking at all of it',
    onFreshStores(open)(async (world) => {
      const work = () => world.store.webhookWork()
      assert.deepEqual(await work(), { hasEvents: false, dueAt: null })
      await put(world)
      const lease = await world.start()
      await world.end(lease, { to: 'failed', cause: 'exit' })
      assert.deepEqual(await work(), { hasEvents: true, dueAt: null })
      const [event] = await outboxOf(world)
      const { id } = await find(world)
      const deliveries = [deliveryTo(id, world, lease.runId)]
      await world.store.expandOutbox([{ id: event!.id, deliveries }])
      assert.deepEqual(await work(), { hasEvents: false, dueAt: world.clock.now() })
      await claim(world, 1)
      assert.equal((await work()).dueAt, world.clock.now() + 60_000)
      await settle(world, deliveries[0]!.id, 1, { state: 'delivered' })
      assert.deepEqual(await work(), { hasEvents: false, dueAt: null })
    }),
  )

  test(
    'one busy endpoint leaves room for the others',
    inWorld(async (world) => {
      await put(world, { name: 'pager' })
      await put(world, { name: 'other' })
      for (let n = 0; n < 4; n += 1) await deliver(world)
      const late = await deliver(world, 'other')
      const { id: webhookId } = await find(world)
      const take = (count: number) =>
        world.store.claimDeliveries({
          ...{ claim: 9, leaseMs: 60_000, limit: 1_000, perWebhook: 2 },
          busy: [{ webhookId, count }],
        })
      const ours = (taken: readonly { projectId: number; id: number }[]) =>
        ids(taken.filter(({ projectId }) => projectId === world.project))
      assert.deepEqual(ours(await take(2)), [late.id])
      assert.equal(ours(await take(1)).length, 1)
      assert.equal(ours(await take(0)).length, 2)
    }),
  )

  test(
    'endpoints that are always busy do not starve the others',
    onFreshStores(open)(async (world) => {
      const busy: { webhookId: number; count: number }[] = []
      for (let nth = 1; nth <= 8; nth += 1) {
        await put(world, { name: `slow-${nth}` })
        await deliver(world, `slow-${nth}`)
        busy.push({ webhookId: (await find(world, `slow-${nth}`)).id, count: 3 })
      }
      await put(world, { name: 'ninth' })
      world.clock.advance(1)
      const late = await deliver(world, 'ninth')
      const usual = { claim: 9, leaseMs: 60_000, limit: 1, perWebhook: 4, busy }
      assert.deepEqual(ids(await world.store.claimDeliveries(usual)), [late.id])
    }),
  )

  test(
    'each place goes to whom the fewest tries are under way to, and then to what is due longest',
    onFreshStores(open)(async (world) => {
      const made: number[] = []
      for (const name of ['old', 'many', 'new']) await put(world, { name })
      for (const name of ['many', 'many', 'many', 'old', 'new']) {
        made.push((await deliver(world, name)).id)
        world.clock.advance(1)
      }
      const [first, second, third, old, newest] = made
      const busy = [{ webhookId: (await find(world, 'old')).id, count: 1 }]
      const take = async (limit: number) => {
        const usual = { claim: 9, leaseMs: 60_000, limit, perWebhook: 4, busy }
        return ids(await world.store.claimDeliveries(usual)).toSorted((a, b) => a - b)
      }
      assert.deepEqual(await take(1), [first])
      assert.deepEqual(await take(2), [second, newest])
      assert.deepEqual(await take(1), [third])
      assert.deepEqual(await take(9), [old])
    }),
  )

  test(
    'disabling a webhook ends what was to be delivered; a test still goes out',
    inWorld(async (world) => {
      await put(world)
      const waiting = await deliver(world)
      const underWay = await deliver(world)
      await claim(world, 1)
      await settle(world, waiting.id, 1, { waitMs: 1_000 })
      await put(world, { enabled: false })
      assert.equal(await settle(world, underWay.id, 1), false)
      for (const { state, lastError, nextAt } of await listOf(world)) {
        assert.deepEqual([state, lastError, nextAt], ['failed', 'the webhook was disabled', null])
      }
      const { id: webhookId } = await find(world)
      assert.equal(await world.store.addDelivery(deliveryTo(webhookId, world, 5)), false)
      const tried = deliveryTo(webhookId, world, null)
      assert.equal(await world.store.addDelivery(tried), true)
      world.clock.advance(2_000)
      assert.deepEqual(ids(await claim(world, 2)), [tried.id])
    }),
  )

  test(
    'an endpoint that is gone takes its webhook with it, and the record says so',
    inWorld(async (world) => {
      await put(world)
      const [first, second] = [await deliver(world), await deliver(world)]
      await claim(world, 1)
      const audit = { ...auditEntry(world, 'webhook.disable'), actor: null }
      const disable = { reason: 'it answered 410', audit }
      const outcome = { state: 'failed', status: 410, disable }
      assert.equal(await settle(world, first.id, 1, outcome), true)
      const { enabled, disabledReason } = await find(world)
      assert.deepEqual([enabled, disabledReason], [false, 'it answered 410'])
      assert.equal(await settle(world, second.id, 1, outcome), false)
      const entries = await world.store.listAudit({
        ...{ projectId: world.project, before: 2 ** 52, limit: 9 },
      })
      assert.deepEqual(
        entries.map(({ action }) => action),
        ['webhook.disable', 'webhook.put'],
      )
      const lease = await world.start()
      await world.end(lease, { to: 'failed', cause: 'exit' })
      assert.deepEqual(await outboxOf(world), [])
      await put(world)
      assert.equal((await find(world)).disabledReason, null)
    }),
  )

  test(
    'a delivery can be asked for again under the same id, and goes with its webhook',
    inWorld(async (world) => {
      const { store } = world
      await put(world)
      const { id } = await deliver(world)
      await claim(world, 1)
      await settle(world, id, 1, { state: 'failed' })
      const { id: webhookId } = await find(world)
      const again = { id, webhookId, audit: auditEntry(world, 'webhook.redeliver') }
      world.clock.advance(10)
      assert.equal(await store.redeliver({ ...again, webhookId: webhookId + 1_000 }), false)
      assert.equal(await store.redeliver({ ...again, id: id + 1 }), false)
      assert.equal(await store.redeliver(again), true)
      const taken = only(await claim(world, 2))
      assert.deepEqual([taken.id, taken.attempts, taken.since], [id, 1, world.clock.now()])
      assert.equal((await store.findDelivery({ id, webhookId }))?.id, id)
      assert.equal(await store.findDelivery({ id, webhookId: webhookId + 1_000 }), null)
      const audit = auditEntry(world, 'webhook.delete')
      await store.deleteWebhook({ projectId: world.project, name: 'pager', audit })
      assert.equal(await store.findDelivery({ id, webhookId }), null)
      const gone = { ...TRIED, id, webhookId, claim: 2, waitMs: null, disable: null }
      assert.equal(await store.settleDelivery(gone), false)
    }),
  )

  test(
    'pages of deliveries go on where they ended; old ones are forgotten, pending ones are not',
    inWorld(async (world) => {
      await put(world)
      const made = [await deliver(world), await deliver(world), await deliver(world)]
      const { id: webhookId } = await find(world)
      const page = (before: number) => world.store.listDeliveries({ webhookId, before, limit: 2 })
      const [newest, middle] = [made[2]!.id, made[1]!.id]
      assert.deepEqual(ids(await page(2 ** 52)), [newest, middle])
      assert.deepEqual(ids(await page(middle)), [made[0]!.id])
      await claim(world, 1)
      for (const { id } of made.slice(1)) await settle(world, id, 1, { state: 'failed' })
      while ((await world.store.pruneDeliveries({ before: newest, limit: 1 })).more);
      assert.deepEqual(ids(await page(2 ** 52)), [newest, made[0]!.id])
    }),
  )
}
