import { EVENT_BIT, eventsOf, isForJob, type WebhookEvent } from '../../core/webhook.ts'
import type {
  ExpandedEvent,
  NewDelivery,
  OutboxEvent,
  RunRecord,
  Store,
  WebhookRecord,
} from '../../store/port.ts'
import type { Catalog } from '../catalog.ts'
import type { Messages } from './messages.ts'

const BATCH = 100

/** Makes deliveries of what waits in the outbox: one for each webhook and event. True if more waits. */
export type ExpandOutbox = () => Promise<boolean>

export function createExpandOutbox(deps: {
  readonly store: Pick<Store, 'outboxEvents' | 'webhooksOf' | 'expandOutbox' | 'findRuns'>
  readonly catalog: Catalog
  readonly messages: Messages
  mintId(): number
}): ExpandOutbox {
  const { store, catalog, messages, mintId } = deps

  const expand = async (
    event: OutboxEvent,
    run: RunRecord | undefined,
    webhooks: readonly WebhookRecord[],
  ): Promise<ExpandedEvent> => {
    const deliveries: NewDelivery[] = []
    const wanted = run ? wantedBy(webhooks, event, catalog.jobName(event.jobId)) : []
    const bodies = new Map<WebhookEvent, string>()
    for (const { webhookId, as } of wanted) {
      const body = bodies.get(as) ?? (await messages.ofEnd(event, run as RunRecord, as))
      bodies.set(as, body)
      deliveries.push({ id: mintId(), webhookId, event: as, runId: event.runId, body })
    }
    return { id: event.id, deliveries }
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
    for (const event of events) expanded.push(await expand(event, runs.get(event.runId), webhooks))
    await store.expandOutbox(expanded)
    return events.length === BATCH
  }
}

/** A webhook hears of what happened since it was there, of its own project and jobs. */
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
