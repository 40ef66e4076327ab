import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeliveryRecord } from '../../port.ts'
import { ids, only } from '../fixture.ts'
import {
  auditEntry,
  claimDue,
  deliverTo,
  deliveryTo,
  findTestWebhook,
  outboxOf,
  putTestWebhook,
} from './webhook-fixture.ts'
import { onFreshStores, onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

const TRIED = { state: 'pending', status: 500, error: 'it said 500', tookMs: 12 } as const

export function deliveriesContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)
  const listOf = async (world: StoreWorld): Promise<readonly DeliveryRecord[]> => {
    const { id: webhookId } = await findTestWebhook(world)
    return world.store.listDeliveries({ webhookId, before: 2 ** 52, limit: 50 })
  }
  const settle = async (world: StoreWorld, id: number, claimed: number, extra: object = {}) => {
    const { id: webhookId } = await findTestWebhook(world)
    const defaults = { id, webhookId, claim: claimed, waitMs: null, disable: null }
    return world.store.settleDelivery({ ...defaults, ...TRIED, ...extra })
  }

  test(
    'an event becomes its deliveries once, even if several nodes expand it',
    inWorld(async (world) => {
      await putTestWebhook(world)
      const { id: webhookId } = await findTestWebhook(world)
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
        id: made.id,
        webhookId,
        event: 'run.failed',
        runId: lease.runId,
        body: '{"a":"ä"}',
        state: 'pending',
        attempts: 0,
        since: now,
        createdAt: now,
        nextAt: now,
        lastAt: null,
        lastStatus: null,
        lastError: null,
        tookMs: null,
      })
    }),
  )

  test(
    'a due delivery is claimed once, and again once the lease has run out',
    inWorld(async (world) => {
      await putTestWebhook(world)
      const { id } = await deliverTo(world)
      const both = await Promise.all([claimDue(world, 1), claimDue(world, 2)])
      const taken = only(both.flat())
      assert.deepEqual([taken.id, taken.attempts, taken.webhook], [id, 1, 'pager'])
      assert.deepEqual(taken.secrets, ['sealed one'])
      const first = both[0].length === 1 ? 1 : 2
      world.clock.advance(59_999)
      assert.deepEqual(await claimDue(world, 3), [])
      world.clock.advance(1)
      assert.equal(only(await claimDue(world, 3)).attempts, 2)
      assert.equal(await settle(world, id, first), false, 'its claim is an old one')
      assert.equal(await settle(world, id, 3, { state: 'delivered', status: 200 }), true)
      assert.equal(await settle(world, id, 3, { state: 'failed' }), false, 'it is settled')
      const [done] = await listOf(world)
      assert.deepEqual([done?.state, done?.nextAt, done?.attempts], ['delivered', null, 2])
    }),
  )

  test(
    'a failed delivery is tried again when it is due, and keeps its error',
    inWorld(async (world) => {
      await putTestWebhook(world)
      const { id } = await deliverTo(world)
      await claimDue(world, 1)
      const at = world.clock.now()
      assert.equal(await settle(world, id, 1, { waitMs: 5_000 }), true)
      const [tried] = await listOf(world)
      assert.deepEqual(
        [tried?.lastStatus, tried?.lastError, tried?.tookMs, tried?.lastAt, tried?.nextAt],
        [500, 'it said 500', 12, at, at + 5_000],
      )
      assert.equal((await findTestWebhook(world)).failingSince, at)
      world.clock.advance(4_999)
      assert.deepEqual(await claimDue(world, 2), [])
      world.clock.advance(1)
      only(await claimDue(world, 2))
      await settle(world, id, 2, { waitMs: 1 })
      assert.equal((await findTestWebhook(world)).failingSince, at, 'since the first failure')
      world.clock.advance(1)
      await claimDue(world, 3)
      await settle(world, id, 3, { state: 'delivered', status: 204, error: null })
      assert.equal((await findTestWebhook(world)).failingSince, null)
    }),
  )

  test(
    'an attempt aborted by this side does not count as a failure of the endpoint',
    inWorld(async (world) => {
      await putTestWebhook(world)
      const { id } = await deliverTo(world)
      await claimDue(world, 1)
      await settle(world, id, 1, { waitMs: 0, status: null, error: null })
      assert.equal((await findTestWebhook(world)).failingSince, null)
      only(await claimDue(world, 2))
    }),
  )

  test(
    'whether there is work is known without reading all of it',
    onFreshStores(open)(async (world) => {
      const work = () => world.store.pendingWebhookWork()
      assert.deepEqual(await work(), { hasEvents: false, dueAt: null })
      await putTestWebhook(world)
      const lease = await world.start()
      await world.end(lease, { to: 'failed', cause: 'exit' })
      assert.deepEqual(await work(), { hasEvents: true, dueAt: null })
      const [event] = await outboxOf(world)
      const { id } = await findTestWebhook(world)
      const deliveries = [deliveryTo(id, world, lease.runId)]
      await world.store.expandOutbox([{ id: event!.id, deliveries }])
      assert.deepEqual(await work(), { hasEvents: false, dueAt: world.clock.now() })
      await claimDue(world, 1)
      assert.equal((await work()).dueAt, world.clock.now() + 60_000)
      await settle(world, deliveries[0]!.id, 1, { state: 'delivered' })
      assert.deepEqual(await work(), { hasEvents: false, dueAt: null })
    }),
  )

  test(
    'one busy endpoint leaves room for the others',
    inWorld(async (world) => {
      await putTestWebhook(world, { name: 'pager' })
      await putTestWebhook(world, { name: 'other' })
      for (let n = 0; n < 4; n += 1) await deliverTo(world)
      const late = await deliverTo(world, 'other')
      const { id: webhookId } = await findTestWebhook(world)
      const take = (count: number) =>
        world.store.claimDeliveries({
          claim: 9,
          leaseMs: 60_000,
          limit: 1_000,
          perWebhook: 2,
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
        await putTestWebhook(world, { name: `slow-${nth}` })
        await deliverTo(world, `slow-${nth}`)
        busy.push({ webhookId: (await findTestWebhook(world, `slow-${nth}`)).id, count: 3 })
      }
      await putTestWebhook(world, { name: 'ninth' })
      world.clock.advance(1)
      const late = await deliverTo(world, 'ninth')
      const defaults = { claim: 9, leaseMs: 60_000, limit: 1, perWebhook: 4, busy }
      assert.deepEqual(ids(await world.store.claimDeliveries(defaults)), [late.id])
    }),
  )

  test(
    'each slot goes to the endpoint with the fewest attempts under way, and then to the delivery due longest',
    onFreshStores(open)(async (world) => {
      const made: number[] = []
      for (const name of ['old', 'many', 'new']) await putTestWebhook(world, { name })
      for (const name of ['many', 'many', 'many', 'old', 'new']) {
        made.push((await deliverTo(world, name)).id)
        world.clock.advance(1)
      }
      const [first, second, third, old, newest] = made
      const busy = [{ webhookId: (await findTestWebhook(world, 'old')).id, count: 1 }]
      const take = async (limit: number) => {
        const defaults = { claim: 9, leaseMs: 60_000, limit, perWebhook: 4, busy }
        return ids(await world.store.claimDeliveries(defaults)).toSorted((a, b) => a - b)
      }
      assert.deepEqual(await take(1), [first])
      assert.deepEqual(await take(2), [second, newest])
      assert.deepEqual(await take(1), [third])
      assert.deepEqual(await take(9), [old])
    }),
  )

  test(
    'disabling a webhook ends its pending deliveries; a test is still delivered',
    inWorld(async (world) => {
      await putTestWebhook(world)
      const waiting = await deliverTo(world)
      const underWay = await deliverTo(world)
      await claimDue(world, 1)
      await settle(world, waiting.id, 1, { waitMs: 1_000 })
      await putTestWebhook(world, { enabled: false })
      assert.equal(await settle(world, underWay.id, 1), false)
      for (const { state, lastError, nextAt } of await listOf(world)) {
        assert.deepEqual([state, lastError, nextAt], ['failed', 'the webhook was disabled', null])
      }
      const { id: webhookId } = await findTestWebhook(world)
      assert.equal(await world.store.addDelivery(deliveryTo(webhookId, world, 5)), false)
      const tried = deliveryTo(webhookId, world, null)
      assert.equal(await world.store.addDelivery(tried), true)
      world.clock.advance(2_000)
      assert.deepEqual(ids(await claimDue(world, 2)), [tried.id])
    }),
  )

  test(
    'an endpoint that is gone disables its webhook, with an audit entry',
    inWorld(async (world) => {
      await putTestWebhook(world)
      const [first, second] = [await deliverTo(world), await deliverTo(world)]
      await claimDue(world, 1)
      const audit = { ...auditEntry(world, 'webhook.disable'), actor: null }
      const disable = { reason: 'it answered 410', audit }
      const outcome = { state: 'failed', status: 410, disable }
      assert.equal(await settle(world, first.id, 1, outcome), true)
      const { enabled, disabledReason } = await findTestWebhook(world)
      assert.deepEqual([enabled, disabledReason], [false, 'it answered 410'])
      assert.equal(await settle(world, second.id, 1, outcome), false)
      const entries = await world.store.listAudit({
        projectId: world.project,
        before: 2 ** 52,
        limit: 9,
      })
      assert.deepEqual(
        entries.map(({ action }) => action),
        ['webhook.disable', 'webhook.put'],
      )
      const lease = await world.start()
      await world.end(lease, { to: 'failed', cause: 'exit' })
      assert.deepEqual(await outboxOf(world), [])
      await putTestWebhook(world)
      assert.equal((await findTestWebhook(world)).disabledReason, null)
    }),
  )

  test(
    'a delivery can be repeated under the same id, and is deleted with its webhook',
    inWorld(async (world) => {
      const { store } = world
      await putTestWebhook(world)
      const { id } = await deliverTo(world)
      await claimDue(world, 1)
      await settle(world, id, 1, { state: 'failed' })
      const { id: webhookId } = await findTestWebhook(world)
      const again = { id, webhookId, audit: auditEntry(world, 'webhook.redeliver') }
      world.clock.advance(10)
      assert.equal(await store.redeliver({ ...again, webhookId: webhookId + 1_000 }), false)
      assert.equal(await store.redeliver({ ...again, id: id + 1 }), false)
      assert.equal(await store.redeliver(again), true)
      const taken = only(await claimDue(world, 2))
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
    'pages of deliveries continue where they ended; old ones are deleted, pending ones are not',
    inWorld(async (world) => {
      await putTestWebhook(world)
      const made = [await deliverTo(world), await deliverTo(world), await deliverTo(world)]
      const { id: webhookId } = await findTestWebhook(world)
      const page = (before: number) => world.store.listDeliveries({ webhookId, before, limit: 2 })
      const [newest, middle] = [made[2]!.id, made[1]!.id]
      assert.deepEqual(ids(await page(2 ** 52)), [newest, middle])
      assert.deepEqual(ids(await page(middle)), [made[0]!.id])
      await claimDue(world, 1)
      for (const { id } of made.slice(1)) await settle(world, id, 1, { state: 'failed' })
      while ((await world.store.pruneDeliveries({ before: newest, limit: 1 })).more);
      assert.deepEqual(ids(await page(2 ** 52)), [newest, made[0]!.id])
    }),
  )
}
