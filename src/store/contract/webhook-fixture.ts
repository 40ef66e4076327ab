import { bitsOf, type WebhookEvent, eventsOf } from '../../core/webhook/webhook.ts'
import type { AuditEntry, NewDelivery, OutboxEvent, WebhookRecord, WebhookWish } from '../port.ts'
import type { World } from './world.ts'

export function auditEntry(world: World, action: string): AuditEntry {
  const usual = { actor: 7, target: 'x', detail: null, request: 'req_1', address: '127.0.0.1' }
  return { projectId: world.project, action, ...usual }
}

export function put(
  world: World,
  { events = ['run.failed', 'run.recovered'], ...extra }: PutOptions = {},
) {
  return world.store.putWebhook({
    ...{ projectId: world.project, name: 'pager', url: 'https://example.com/hook' },
    ...{ jobs: null, enabled: true, once: false, most: 100 },
    events: bitsOf(events),
    secret: { sealed: 'sealed one', ending: 'one' },
    audit: auditEntry(world, 'webhook.put'),
    ...extra,
  })
}
type PutOptions = Partial<Omit<WebhookWish, 'events'>> & { events?: readonly WebhookEvent[] }

export async function find(world: World, name = 'pager'): Promise<WebhookRecord> {
  const found = await world.store.findWebhook({ projectId: world.project, name })
  if (!found) throw new Error(`there is no webhook ${name}`)
  return found
}

/** What waits in the outbox for this world's projects. */
export async function outboxOf(world: World): Promise<readonly OutboxEvent[]> {
  const events = await world.store.outboxEvents({ limit: 10_000 })
  return events.filter(({ projectId }) => [world.project, world.otherProject].includes(projectId))
}

/** The same, as pairs of run and events. */
export async function told(world: World): Promise<[runId: number, events: string][]> {
  return (await outboxOf(world)).map(({ runId, events }) => [runId, eventsOf(events).join(' ')])
}

export function deliveryTo(webhookId: number, world: World, runId: number | null): NewDelivery {
  return { id: world.mint(), webhookId, event: 'run.failed', runId, body: '{"a":"ä"}' }
}

/** A delivery that came out of the outbox as it should. */
export async function deliver(world: World, name = 'pager'): Promise<NewDelivery> {
  const { id } = await find(world, name)
  const lease = await world.start()
  await world.end(lease, { to: 'failed', cause: 'exit' })
  const event = (await outboxOf(world)).find(({ runId }) => runId === lease.runId)
  if (!event) throw new Error('the end of the run is not in the outbox')
  const delivery = deliveryTo(id, world, lease.runId)
  await world.store.expandOutbox([{ id: event.id, deliveries: [delivery] }])
  return delivery
}

/** Takes what is due here; other tests of the suite may have left something. */
export async function claim(world: World, claimed: number, leaseMs = 60_000) {
  const all = await world.store.claimDeliveries({
    ...{ claim: claimed, leaseMs, limit: 1_000, perWebhook: 100, busy: [] },
  })
  return all.filter(({ projectId }) => projectId === world.project)
}
