import { publicId } from '../../../core/ids.ts'
import type { WireStepRun } from '../../../core/workflow/views/step-views.ts'
import type { WorkflowStore, RunQueries, RunRecord } from '../../../store/port.ts'

/** The runs of some steps of a workflow. */
export interface StepRunViews {
  /** Null without a run, or if the run was pruned before its workflow. */
  show(runId: number | null): WireStepRun | null
  find(runId: number | null): RunRecord | undefined
  /** Whether the run was made for another workflow, which this one repeats. */
  isReused(runId: number | null): boolean
}

export async function findStepRuns(
  store: Pick<WorkflowStore, 'stepsOfRuns'> & Pick<RunQueries, 'findRuns'>,
  workflowId: number,
  places: Iterable<{ readonly runId: number | null }>,
): Promise<StepRunViews> {
  const runIds = Array.from(places, ({ runId }) => runId).filter((runId) => runId !== null)
  if (runIds.length === 0) return NO_RUNS
  const records = new Map((await store.findRuns({ runIds })).map((run) => [run.id, run]))
  const reused = new Set<number>()
  for (const of of await store.stepsOfRuns({ runIds })) {
    // Ids follow time, and a workflow can only repeat an older one.
    if (of.workflowId < workflowId) reused.add(of.runId)
  }
  const find = (runId: number | null) => (runId === null ? undefined : records.get(runId))
  return {
    find,
    show(runId) {
      const run = find(runId)
      if (!run) return null
      const { id, state, attempt, message } = run
      return { id: publicId('run', id), state, attempt, message }
    },
    isReused: (runId) => runId !== null && reused.has(runId),
  }
}

/** For requests that do not show the runs of steps. */
export const NO_RUNS: StepRunViews = {
  show: () => null,
  find: () => undefined,
  isReused: () => false,
}
