import type { Metrics } from '../metrics/metrics.ts'
import { createSealer, type Sealer } from '../webhooks/sealer.ts'
import { startWebhookDelivery, type WebhookDelivery } from '../webhooks/webhook-delivery.ts'
import type { Runs } from './assemble-runs.ts'
import type { StoreAccess } from './assemble-store-access.ts'
import type { NodeOptions } from './node-options.ts'

/** Webhooks: their secrets, and their delivery by this node. */
export interface Webhooks {
  readonly sealer: Sealer
  readonly delivery: WebhookDelivery
}

/** Starts the delivery. Called after the node has joined. */
export function assembleWebhooks(
  options: NodeOptions,
  {
    access,
    runs,
    metrics,
  }: { readonly access: StoreAccess; readonly runs: Runs; readonly metrics: Metrics },
): Webhooks {
  const { store, storeClock, catalog, membership, vault, onError } = access
  const sealer = createSealer(vault, store)
  const delivery = startWebhookDelivery(options.webhookDelivery, {
    store,
    clock: options.clock,
    random: options.random,
    catalog,
    creators: runs.creators,
    sealer,
    mintId: membership.mintId,
    storeNow: membership.storeNow,
    mayDelete: storeClock.mayDelete,
    onOutcome: metrics.onDelivery,
    onError,
  })
  return { sealer, delivery }
}
