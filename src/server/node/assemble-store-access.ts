import type { Store } from '../../store/port.ts'
import { createDefinitions, type Definitions } from '../definitions/definitions.ts'
import type { LaneIndex } from '../dispatch/lanes/lane-index.ts'
import {
  createQueueSettingsCache,
  type QueueSettingsCache,
} from '../dispatch/queue-settings-cache.ts'
import { NO_VAULT, type Vault } from '../secrets/vault.ts'
import { createCatalogCache, type CatalogCache } from '../catalog/catalog-cache.ts'
import { createMembership, type Membership } from '../cluster/membership.ts'
import type { NodeOptions } from './node-options.ts'
import type { NodeSignals } from '../signals/signals.ts'
import { createStoreClock, describeClockEvent, type StoreClock } from '../cluster/store-clock.ts'
import { createStoreHealth, type StoreHealth } from '../health/store-health.ts'

/** The store as this node uses it: its health, its time, the node's row in it, and caches. */
export interface StoreAccess {
  readonly store: Store
  readonly health: StoreHealth
  readonly storeClock: StoreClock
  readonly membership: Membership
  readonly catalog: CatalogCache
  readonly queueSettings: QueueSettingsCache
  readonly definitions: Definitions
  readonly vault: Vault
  /** Identifies the installation. */
  readonly installation: string
  /** The current incarnation of this node. */
  node(): number
  /** Reports an error that the node survived. */
  onError(error: unknown): void
}

export async function assembleStoreAccess(
  options: NodeOptions,
  { laneIndex, signals }: { readonly laneIndex: LaneIndex; readonly signals: NodeSignals },
): Promise<StoreAccess> {
  const { store, clock, random, config, vault = NO_VAULT } = options
  const health = createStoreHealth({ store, clock, log: options.log })
  const storeClock = createStoreClock({
    clock,
    onEvent(event) {
      options.onWarn?.(describeClockEvent(event))
      signals.clockChanged(event)
    },
  })
  const membership = createMembership({ store, clock, random, config, storeClock })
  const catalog = createCatalogCache(store, laneIndex, signals)
  return {
    store,
    health,
    storeClock,
    membership,
    catalog,
    queueSettings: createQueueSettingsCache(store, catalog),
    definitions: createDefinitions({ store, clock, believedMs: config.laneRefreshMs }),
    vault,
    installation: await store.identity(),
    node: () => membership.node,
    onError(error) {
      health.note(error)
      options.onError?.(error)
    },
  }
}
