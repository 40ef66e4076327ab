import type { HeldFlow } from './held-flow.ts'

/** Flows this node knows by heart. What is not on it can be read again at any time. */
export interface Shelf {
  get(runId: number): HeldFlow | undefined
  put(flow: HeldFlow): void
  drop(runId: number): void
  /** There is something to be done in it. */
  stir(runId: number): void
  isRestive(runId: number): boolean
  /** Takes some in which there is something to be done, those that have waited longest first. */
  takeRestive(limit: number): HeldFlow[]
  readonly hasRestive: boolean
  clear(): void
}

/** Kept at most, all flows together, each counted for a few steps more than it has. */
const MOST_STEPS = 1_000_000
const WEIGHT_OF_ONE = 100

export function createShelf(): Shelf {
  const flows = new Map<number, HeldFlow>()
  const restive = new Set<number>()
  let weight = 0

  const drop = (runId: number) => {
    const flow = flows.get(runId)
    if (!flow) return
    flows.delete(runId)
    restive.delete(runId)
    weight -= weightOf(flow)
  }

  /** Those nothing was heard of for longest go first; one in which there is something to do stays. */
  const makeRoom = () => {
    for (const runId of flows.keys()) {
      if (weight <= MOST_STEPS) return
      if (!restive.has(runId)) drop(runId)
    }
  }

  return {
    get: (runId) => flows.get(runId),
    put(flow) {
      drop(flow.record.runId)
      flows.set(flow.record.runId, flow)
      restive.add(flow.record.runId)
      weight += weightOf(flow)
      makeRoom()
    },
    drop,
    stir(runId) {
      const flow = flows.get(runId)
      if (!flow) return
      flows.delete(runId)
      flows.set(runId, flow)
      restive.add(runId)
    },
    isRestive: (runId) => restive.has(runId),
    takeRestive(limit) {
      const taken: HeldFlow[] = []
      for (const runId of restive) {
        if (taken.length === limit) break
        restive.delete(runId)
        taken.push(flows.get(runId) as HeldFlow)
      }
      return taken
    },
    get hasRestive() {
      return restive.size > 0
    },
    clear() {
      flows.clear()
      restive.clear()
      weight = 0
    },
  }
}

function weightOf({ compiled }: HeldFlow): number {
  return compiled.graph.size + WEIGHT_OF_ONE
}
