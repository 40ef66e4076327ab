import { publicId } from '../../core/ids.ts'
import { EVENT_BIT, eventsOf, isForJob, type WebhookEvent } from '../../core/webhook/webhook.ts'
import type {
  ExpandedEvent,
  NewDelivery,
  OutboxEvent,
  RunRecord,
  Store,
  WebhookRecord,
} from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import type { Messages } from './messages.ts'

const BATCH = 100
/**
 * A failure to expand an event may be temporary, such as an unavailable database; after this many
 * tries it counts as permanent.
 */
const TRIES = 3

/**
 * Makes deliveries for the events in the outbox: one per webhook and event. True if there are more
 * events.
 */
export type ExpandOutbox = () => Promise<boolean>

export function createExpandOutbox(deps: {
  readonly store: Pick<Store, 'outboxEvents' | 'webhooksOf' | 'expandOutbox' | 'findRuns'>
  readonly catalog: CatalogCache
  readonly messages: Messages
  mintId(): number
  onError(error: unknown): void
}): ExpandOutbox {
  const { store, catalog, messages, mintId, onError } = deps
  /** Failed attempts per event id. */
  const tries = new Map<number, number>()

  const expand = async (
    event: OutboxEvent,
    run: RunRecord | undefined,
    webhooks: readonly WebhookRecord[],
    textOf: (run: RunRecord, as: WebhookEvent) => Promise<string> | string,
  ): Promise<ExpandedEvent> => {
    const deliveries: NewDelivery[] = []
    const wanted = run ? wantedBy(webhooks, event, catalog.jobName(event.jobId)) : []
    const bodies = new Map<WebhookEvent, string>()
    for (const { webhookId, as } of wanted) {
      const body = bodies.get(as) ?? (await textOf(run as RunRecord, as))
      bodies.set(as, body)
      deliveries.push({ id: mintId(), webhookId, event: as, runId: event.runId, body })
    }
    return { id: event.id, deliveries }
  }

  /** Undefined: try later. An event that cannot be expanded must not block the others for ever. */
  const expandOrNot = async (
    event: OutboxEvent,
    run: RunRecord | undefined,
    webhooks: readonly WebhookRecord[],
  ): Promise<ExpandedEvent | undefined> => {
    try {
      return await expand(event, run, webhooks, (of, as) => messages.ofEnd(event, of, as))
    } catch (error) {
      onError(error)
      const tried = (tries.get(event.id) ?? 0) + 1
      tries.set(event.id, tried)
      if (tried < TRIES) return undefined
      const why = messageOf(error)
      const short = (_: RunRecord, as: WebhookEvent) => messages.ofUnreadable(event, as, why)
      return await expand(event, run, webhooks, short).catch((still: unknown) => {
        const what = `event ${event.id} of ${publicId('run', event.runId)}`
        onError(new Error(`${what} is set aside: ${messageOf(still)}`, { cause: still }))
        return { id: event.id, deliveries: [] }
      })
    }
  }

  return async () => {
    const events = await store.outboxEvents({ limit: BATCH })
    if (events.length === 0) return false
    const webhooks = await store.webhooksOf([...new Set(events.map((event) => event.projectId))])
    const records = await store.findRuns({ runIds: events.map((event) => event.runId) })
    const runs = new Map(records.map((run) => [run.id, run]))
    await catalog.learnNames(
      events.map((event) => event.jobId),
      events.map((event) => event.projectId),
    )
    const expanded: ExpandedEvent[] = []
    for (const event of events) {
      const one = await expandOrNot(event, runs.get(event.runId), webhooks)
      if (one) expanded.push(one)
    }
    await store.expandOutbox(expanded)
    for (const { id } of expanded) tries.delete(id)
    return events.length === BATCH
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** A webhook gets events that happened since it exists, of its own project and jobs. */
function wantedBy(
  webhooks: readonly WebhookRecord[],
  { projectId, events, at }: OutboxEvent,
  job: string,
): { webhookId: number; as: WebhookEvent }[] {
  return webhooks
    .filter((webhook) => webhook.projectId === projectId && webhook.createdAt <= at)
    .filter(({ jobs }) => isForJob(jobs === null ? null : (JSON.parse(jobs) as string[]), job))
    .flatMap((webhook) =>
      eventsOf(events)
        .filter((as) => (webhook.events & EVENT_BIT[as]) !== 0)
        .map((as) => ({ webhookId: webhook.id, as })),
    )
}
