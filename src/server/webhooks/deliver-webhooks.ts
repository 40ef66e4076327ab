import { idAtMs } from '../../core/ids.ts'
import type { DeliveryStore, OutboxStore } from '../../store/port.ts'
import type { Deliverer } from './deliver.ts'
import type { ExpandOutbox } from './expand-outbox.ts'
import type { LoopStep } from '../loops/run-loop.ts'

/** How often a node looks for due deliveries. */
export const DELIVERY_PERIOD_MS = 1_000
const KEPT_MS = 30 * 24 * 3_600_000
const BATCH = 1_000

/** Moves events from the outbox to the endpoints. Without events it costs one small query. */
export function deliverWebhooks(deps: {
  store: Pick<OutboxStore, 'pendingWebhookWork'>
  expand: ExpandOutbox
  deliverer: Pick<Deliverer, 'start'>
  storeNow(): number
}): LoopStep {
  return async () => {
    const { hasEvents, dueAt } = await deps.store.pendingWebhookWork()
    const more = hasEvents && (await deps.expand())
    if (hasEvents || (dueAt !== null && dueAt <= deps.storeNow())) await deps.deliverer.start()
    return { more }
  }
}

/** Deliveries and their outcomes can be read for a month. */
export function forgetDeliveries(deps: {
  store: Pick<DeliveryStore, 'pruneDeliveries'>
  storeNow(): number
}): LoopStep {
  return () =>
    deps.store.pruneDeliveries({ before: idAtMs(deps.storeNow() - KEPT_MS), limit: BATCH })
}
