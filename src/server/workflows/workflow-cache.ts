import type { LoadedWorkflow } from './loaded-workflow.ts'
import { estimateSize } from './estimate-size.ts'

/** Workflows in memory. An entry can be dropped and read again at any time. */
export interface WorkflowCache {
  get(runId: number): LoadedWorkflow | undefined
  put(workflow: LoadedWorkflow): void
  drop(runId: number): void
  /** Marks a workflow as having something to do. */
  markDirty(runId: number): void
  isDirty(runId: number): boolean
  /** Takes dirty workflows, those that have waited longest first. */
  takeDirty(limit: number): LoadedWorkflow[]
  readonly hasDirty: boolean
  clear(): void
}

/**
 * Maximum number of cached steps, items and values of all workflows; each workflow counts a few
 * more than it has.
 */
const MOST = 1_000_000
const WEIGHT_OF_ONE = 100

export function createWorkflowCache(): WorkflowCache {
  const workflows = new Map<number, LoadedWorkflow>()
  const dirty = new Set<number>()
  const weights = new Map<number, number>()
  let weight = 0
  /** The workflows taken last, which may have grown since. */
  let recentlyTaken: readonly number[] = []

  const count = (runId: number, own: number) => {
    weight += own - (weights.get(runId) ?? 0)
    weights.set(runId, own)
  }

  const drop = (runId: number) => {
    count(runId, 0)
    workflows.delete(runId)
    dirty.delete(runId)
    weights.delete(runId)
  }

  /**
   * Evicts workflows, those without signals for longest first. A dirty one stays, and so does the
   * last one, however large: it would be read again for each of its signals.
   */
  const evict = () => {
    for (const runId of workflows.keys()) {
      if (weight <= MOST || workflows.size === 1) return
      if (!dirty.has(runId)) drop(runId)
    }
  }

  return {
    get: (runId) => workflows.get(runId),
    put(workflow) {
      drop(workflow.record.runId)
      workflows.set(workflow.record.runId, workflow)
      dirty.add(workflow.record.runId)
      count(workflow.record.runId, weightOf(workflow))
      evict()
    },
    drop,
    markDirty(runId) {
      const workflow = workflows.get(runId)
      if (!workflow) return
      workflows.delete(runId)
      workflows.set(runId, workflow)
      dirty.add(runId)
    },
    isDirty: (runId) => dirty.has(runId),
    takeDirty(limit) {
      for (const runId of recentlyTaken) {
        const workflow = workflows.get(runId)
        if (workflow) count(runId, weightOf(workflow))
      }
      evict()
      const taken: LoadedWorkflow[] = []
      for (const runId of dirty) {
        if (taken.length === limit) break
        dirty.delete(runId)
        taken.push(workflows.get(runId) as LoadedWorkflow)
      }
      recentlyTaken = taken.map(({ record }) => record.runId)
      return taken
    },
    get hasDirty() {
      return dirty.size > 0
    },
    clear() {
      workflows.clear()
      dirty.clear()
      weights.clear()
      weight = 0
      recentlyTaken = []
    },
  }
}

function weightOf({ compiled, runs, input, lists }: LoadedWorkflow): number {
  let weight = compiled.graph.size + WEIGHT_OF_ONE + runs.items + estimateSize(input)
  for (const list of lists.values()) weight += estimateSize(list)
  return weight
}
