import { eventBitsOf, type WebhookEvent, eventsOf } from '../../../core/webhook/webhook.ts'
import type {
  AuditEntry,
  NewDelivery,
  OutboxEvent,
  WebhookRecord,
  PutWebhookInput,
} from '../../port.ts'
import type { StoreWorld } from '../world.ts'

export function auditEntry(world: StoreWorld, action: string): AuditEntry {
  const defaults = { actor: 7, target: 'x', detail: null, request: 'req_1', address: '127.0.0.1' }
  return { projectId: world.project, action, ...defaults }
}

export function putTestWebhook(
  world: StoreWorld,
  { events = ['run.failed', 'run.recovered'], ...extra }: PutOptions = {},
) {
  return world.store.putWebhook({
    projectId: world.project,
    name: 'pager',
    url: 'https://example.com/hook',
    jobs: null,
    enabled: true,
    onlyIfNew: false,
    maxWebhooks: 100,
    events: eventBitsOf(events),
    secret: { sealed: 'sealed one', ending: 'one' },
    audit: auditEntry(world, 'webhook.put'),
    ...extra,
  })
}
type PutOptions = Partial<Omit<PutWebhookInput, 'events'>> & { events?: readonly WebhookEvent[] }

export async function findTestWebhook(world: StoreWorld, name = 'pager'): Promise<WebhookRecord> {
  const found = await world.store.findWebhook({ projectId: world.project, name })
  if (!found) throw new Error(`there is no webhook ${name}`)
  return found
}

/** Events in the outbox for this world's projects. */
export async function outboxOf(world: StoreWorld): Promise<readonly OutboxEvent[]> {
  const events = await world.store.outboxEvents({ limit: 10_000 })
  return events.filter(({ projectId }) => [world.project, world.otherProject].includes(projectId))
}

/** The same, as pairs of run and events. */
export async function queuedEvents(world: StoreWorld): Promise<[runId: number, events: string][]> {
  return (await outboxOf(world)).map(({ runId, events }) => [runId, eventsOf(events).join(' ')])
}

export function deliveryTo(
  webhookId: number,
  world: StoreWorld,
  runId: number | null,
): NewDelivery {
  return { id: world.mint(), webhookId, event: 'run.failed', runId, body: '{"a":"ä"}' }
}

/** A delivery created from the outbox. */
export async function deliverTo(world: StoreWorld, name = 'pager'): Promise<NewDelivery> {
  const { id } = await findTestWebhook(world, name)
  const lease = await world.start()
  await world.end(lease, { to: 'failed', cause: 'exit' })
  const event = (await outboxOf(world)).find(({ runId }) => runId === lease.runId)
  if (!event) throw new Error('the end of the run is not in the outbox')
  const delivery = deliveryTo(id, world, lease.runId)
  await world.store.expandOutbox([{ id: event.id, deliveries: [delivery] }])
  return delivery
}

/** Claims what is due here; other tests of the suite may have left deliveries. */
export async function claimDue(world: StoreWorld, claimed: number, leaseMs = 60_000) {
  const all = await world.store.claimDeliveries({
    claim: claimed,
    leaseMs,
    limit: 1_000,
    perWebhook: 100,
    busy: [],
  })
  return all.filter(({ projectId }) => projectId === world.project)
}
