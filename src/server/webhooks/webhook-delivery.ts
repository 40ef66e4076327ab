import type { Clock, Random } from '../../core/clock.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import type { Store } from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import { startLoop, onlyWhile } from '../loops/run-loop.ts'
import { forgetDeliveries, DELIVERY_PERIOD_MS, deliverWebhooks } from './deliver-webhooks.ts'
import { createDeliverer, type DeliveryOutcome } from './deliver.ts'
import { createExpandOutbox } from './expand-outbox.ts'
import type { RunCreators } from '../runs/run-creators.ts'
import { createMessages, type Messages } from './messages.ts'
import type { Sealer } from './sealer.ts'

/** What a node needs to deliver webhooks. */
export interface WebhookDeliveryOptions {
  readonly outbound: Outbound
  /** The public URL of this server, if known. */
  ownUrl?(): string | undefined
}

/** Delivers webhooks. Any node delivers for all. */
export interface WebhookDelivery {
  readonly messages: Messages
  /** A delivery is due now. */
  wake(): void
  stop(): Promise<void>
}

const FORGET_MS = 60_000

/** Without `options` this node never sends anything. */
export function startWebhookDelivery(
  options: WebhookDeliveryOptions | undefined,
  deps: {
    readonly store: Store
    readonly clock: Clock
    readonly random: Random
    readonly catalog: CatalogCache
    readonly creators: RunCreators
    readonly sealer: Sealer
    mintId(): number
    storeNow(): number
    /** Whether data may be deleted because of its age. */
    mayDelete(): boolean
    onOutcome(outcome: DeliveryOutcome): void
    onError(error: unknown): void
  },
): WebhookDelivery {
  const { store, clock, catalog, creators, mintId, storeNow, onError } = deps
  const ownUrl = options?.ownUrl ?? (() => undefined)
  const messages = createMessages({ store, catalog, creators, clock, ownUrl, onError })
  if (!options) return { messages, wake() {}, async stop() {} }

  const { outbound } = options
  const stopping = new AbortController()
  const { signal } = stopping
  const onSlotFree = () => delivering.wake()
  const deliverer = createDeliverer({ ...deps, outbound, onSlotFree })
  const expand = createExpandOutbox({ store, catalog, messages, mintId, onError })
  const delivering = startLoop(deliverWebhooks({ store, expand, deliverer, storeNow }), {
    clock,
    signal,
    onError,
    idleMs: DELIVERY_PERIOD_MS,
  })
  const forgetting = startLoop(onlyWhile(deps.mayDelete, forgetDeliveries({ store, storeNow })), {
    clock,
    signal,
    onError,
    idleMs: FORGET_MS,
  })
  return {
    messages,
    wake: delivering.wake,
    async stop() {
      stopping.abort()
      await Promise.all([delivering.done, forgetting.done])
      await deliverer.stop()
    },
  }
}
