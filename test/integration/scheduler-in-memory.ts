import type { Blobs } from '../../src/blobs/port.ts'
import { createRowBlobs } from '../../src/blobs/store/blobs.ts'
import { DEFAULT_CONFIG, type NodeConfig } from '../../src/server/cluster/config.ts'
import { startNode, type SchedulerNode } from '../../src/server/node/start-node.ts'
import type { ReadRule } from '../../src/server/schedules/rule-cache.ts'
import type { KeySource } from '../../src/server/secrets/keys.ts'
import { openVault } from '../../src/server/secrets/vault.ts'
import type { Store } from '../../src/store/port.ts'
import { openEngine, createStoreOnEngine, type SqliteEngine } from '../../src/store/sqlite/store.ts'
import { createSeeded } from '../sim/seeded.ts'
import { createVirtualClock, type VirtualClock } from '../support/virtual-clock.ts'

export interface InMemoryScheduler {
  readonly clock: VirtualClock
  readonly engine: SqliteEngine
  readonly node: SchedulerNode
  readonly errors: unknown[]
}

export interface Given {
  config?: Partial<NodeConfig>
  blobs?: Blobs
  wrap?: (store: Store, clock: VirtualClock) => Store
  /** Keys that seal secrets. */
  keys?: KeySource
  /** Parses schedule rules. */
  readRule?: ReadRule
  /** Another node on the same store and clock. */
  beside?: InMemoryScheduler
}

/** A whole node on an in-memory store and a virtual clock. */
export async function startInMemory(given: Given = {}): Promise<InMemoryScheduler> {
  const clock = given.beside?.clock ?? createVirtualClock(Date.UTC(2026, 0, 1))
  const now = () => Math.floor(clock.now())
  const engine = given.beside?.engine ?? openEngine({ path: ':memory:', now, exclusive: false })
  const errors: unknown[] = []
  const store = createStoreOnEngine(engine)
  const node = await startNode({
    store: given.wrap ? given.wrap(store, clock) : store,
    blobs: given.blobs ?? createRowBlobs(store),
    clock,
    random: createSeeded(1).random,
    config: { ...DEFAULT_CONFIG, ...given.config },
    readRule: given.readRule,
    ...(given.keys && { vault: await openVault(store, given.keys) }),
    onError: (error) => errors.push(error),
  })
  return { clock, engine, node, errors }
}
