import type { Clock } from '../../core/clock.ts'
import { createSweepTimer, type SweepTimer } from './sweep-timer.ts'
import { createWorkflowCache, type WorkflowCache } from './workflow-cache.ts'

/** The workflows in memory, and what a node has to do next for workflows. */
export interface WorkflowAgenda {
  readonly cache: WorkflowCache
  /** Workflows that have to be read. */
  readonly toRead: Set<number>
  /** Lanes in which a workflow run may wait. */
  readonly toBegin: Set<number>
  /** Ended runs whose followers have to be released. */
  readonly toRelease: Set<number>
  readonly sweep: SweepTimer
  /** What is in memory about the workflow is outdated. */
  reread(runId: number): void
  /** The workflow has something to do. */
  markDirty(runId: number): void
  /** There is something to do at once. */
  readonly isBusy: boolean
  /** Discards everything in memory. */
  forget(): void
}

export function createWorkflowAgenda(clock: Pick<Clock, 'mono'>): WorkflowAgenda {
  const cache = createWorkflowCache()
  const toRead = new Set<number>()
  const toBegin = new Set<number>()
  const toRelease = new Set<number>()
  const sweep = createSweepTimer(clock)
  return {
    cache,
    toRead,
    toBegin,
    toRelease,
    sweep,
    reread(runId) {
      cache.drop(runId)
      toRead.add(runId)
    },
    markDirty(runId) {
      if (cache.get(runId)) cache.markDirty(runId)
      else toRead.add(runId)
    },
    get isBusy() {
      return cache.hasDirty || toRead.size + toBegin.size + toRelease.size > 0
    },
    forget() {
      cache.clear()
      toRead.clear()
      sweep.reset()
    },
  }
}
