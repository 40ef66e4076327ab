import type { Clock, Random } from '../../core/clock.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import type { Store } from '../../store/port.ts'
import type { Catalog } from '../catalog/catalog-cache.ts'
import { startLoop } from '../loops/run-loop.ts'
import { forgetDeliveries, LOOK_MS, tellWebhooks } from './deliver-webhooks.ts'
import { createDeliverer, type DeliveryOutcome } from './deliver.ts'
import { createExpandOutbox } from './expand-outbox.ts'
import { createMessages, type Messages } from './messages.ts'
import type { Sealer } from './sealer.ts'

/** What a node needs to tell others what happened. */
export interface TellingOptions {
  readonly outbound: Outbound
  /** How others reach this server, if it is known. */
  ownUrl?(): string | undefined
}

/** A node's part in telling webhooks. Any node tells for all. */
export interface Telling {
  readonly messages: Messages
  /** Something is due now. */
  wake(): void
  stop(): Promise<void>
}

const FORGET_MS = 60_000

/** Without `options` nothing is ever sent from here. */
export function startTelling(
  options: TellingOptions | undefined,
  deps: {
    readonly store: Store
    readonly clock: Clock
    readonly random: Random
    readonly catalog: Catalog
    readonly sealer: Sealer
    mintId(): number
    storeNow(): number
    onOutcome(outcome: DeliveryOutcome): void
    onError(error: unknown): void
  },
): Telling {
  const { store, clock, catalog, mintId, storeNow, onError } = deps
  const ownUrl = options?.ownUrl ?? (() => undefined)
  const messages = createMessages({ store, catalog, ownUrl, onError })
  if (!options) return { messages, wake() {}, async stop() {} }

  const { outbound } = options
  const stopping = new AbortController()
  const { signal } = stopping
  const onRoom = () => telling.wake()
  const deliverer = createDeliverer({ ...deps, outbound, onRoom })
  const expand = createExpandOutbox({ store, catalog, messages, mintId, onError })
  const telling = startLoop(tellWebhooks({ store, expand, deliverer, storeNow }), {
    ...{ clock, signal, onError, idleMs: LOOK_MS },
  })
  const forgetting = startLoop(forgetDeliveries({ store, storeNow }), {
    ...{ clock, signal, onError, idleMs: FORGET_MS },
  })
  return {
    messages,
    wake: telling.wake,
    async stop() {
      stopping.abort()
      await Promise.all([telling.done, forgetting.done])
      await deliverer.stop()
    },
  }
}
