import { idAtMs } from '../../core/ids.ts'
import type { DeliveryStore, OutboxStore } from '../../store/port.ts'
import type { Deliverer } from './deliver.ts'
import type { ExpandOutbox } from './expand-outbox.ts'
import type { Step } from '../loops/run-loop.ts'

/** How often a node looks whether there is somebody to tell. */
export const LOOK_MS = 1_000
const KEPT_MS = 30 * 24 * 3_600_000
const BATCH = 1_000

/** From the outbox to the endpoints. Where there is nothing to tell, it is one small look. */
export function tellWebhooks(deps: {
  store: Pick<OutboxStore, 'webhookWork'>
  expand: ExpandOutbox
  deliverer: Pick<Deliverer, 'start'>
  storeNow(): number
}): Step {
  return async () => {
    const { hasEvents, dueAt } = await deps.store.webhookWork()
    const more = hasEvents && (await deps.expand())
    if (hasEvents || (dueAt !== null && dueAt <= deps.storeNow())) await deps.deliverer.start()
    return { more }
  }
}

/** What was delivered, or was not, can be looked at for a month. */
export function forgetDeliveries(deps: {
  store: Pick<DeliveryStore, 'pruneDeliveries'>
  storeNow(): number
}): Step {
  return () =>
    deps.store.pruneDeliveries({ before: idAtMs(deps.storeNow() - KEPT_MS), limit: BATCH })
}
