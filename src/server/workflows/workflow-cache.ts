import type { HeldFlow } from './loaded-workflow.ts'
import { weigh } from './estimate-size.ts'

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

/** Steps, items and values kept at most, all flows together, each counted for a few more than it has. */
const MOST = 1_000_000
const WEIGHT_OF_ONE = 100

export function createShelf(): Shelf {
  const flows = new Map<number, HeldFlow>()
  const restive = new Set<number>()
  const weights = new Map<number, number>()
  let weight = 0
  /** Those that were taken last: what they know has grown since. */
  let grown: readonly number[] = []

  const count = (runId: number, own: number) => {
    weight += own - (weights.get(runId) ?? 0)
    weights.set(runId, own)
  }

  const drop = (runId: number) => {
    count(runId, 0)
    flows.delete(runId)
    restive.delete(runId)
    weights.delete(runId)
  }

  /**
   * Those nothing was heard of for longest go first. One in which there is something to do stays, and the
   * last one, however large: it would be read again for each of its news.
   */
  const makeRoom = () => {
    for (const runId of flows.keys()) {
      if (weight <= MOST || flows.size === 1) return
      if (!restive.has(runId)) drop(runId)
    }
  }

  return {
    get: (runId) => flows.get(runId),
    put(flow) {
      drop(flow.record.runId)
      flows.set(flow.record.runId, flow)
      restive.add(flow.record.runId)
      count(flow.record.runId, weightOf(flow))
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
      for (const runId of grown) {
        const flow = flows.get(runId)
        if (flow) count(runId, weightOf(flow))
      }
      makeRoom()
      const taken: HeldFlow[] = []
      for (const runId of restive) {
        if (taken.length === limit) break
        restive.delete(runId)
        taken.push(flows.get(runId) as HeldFlow)
      }
      grown = taken.map(({ record }) => record.runId)
      return taken
    },
    get hasRestive() {
      return restive.size > 0
    },
    clear() {
      flows.clear()
      restive.clear()
      weights.clear()
      weight = 0
      grown = []
    },
  }
}

function weightOf({ compiled, runs, input, lists }: HeldFlow): number {
  let weight = compiled.graph.size + WEIGHT_OF_ONE + runs.items + weigh(input)
  for (const list of lists.values()) weight += weigh(list)
  return weight
}
