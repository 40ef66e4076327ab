import { createRowBlobs } from '../../src/blobs/store/blobs.ts'
import type { Clock } from '../../src/core/clock.ts'
import type { NodeConfig } from '../../src/server/cluster/config.ts'
import { startNode, type SchedulerNode } from '../../src/server/node/start-node.ts'
import type { Seeded } from './seeded.ts'
import type { StoreLink } from './store-link.ts'
import type { Actor } from './virtual-time.ts'

export interface SimNode {
  readonly actor: Actor
  readonly link: StoreLink
  /** Undefined until it has reached the store. */
  node: SchedulerNode | undefined
}

/** The real node with its own link to the store; it retries until it is up or dead. */
export function startSimNode(options: {
  actor: Actor
  link: StoreLink
  clock: Clock
  seeded: Seeded
  config: NodeConfig
}): SimNode {
  const { actor, link, clock, seeded, config } = options
  const { store } = link
  const sim: SimNode = { actor, link, node: undefined }
  const start = async () => {
    while (actor.isAlive && !sim.node) {
      const parts = { store, blobs: createRowBlobs(store), random: seeded.random }
      sim.node = await startNode({ ...parts, config, clock }).catch(() => undefined)
      if (!sim.node) await clock.sleep(1_000)
    }
  }
  void start()
  return sim
}
