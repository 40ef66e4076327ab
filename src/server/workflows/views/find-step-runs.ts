import { publicId } from '../../../core/ids.ts'
import type { WireStepRun } from '../../../core/workflow/step-views.ts'
import type { FlowStore, RunQueries, RunRecord } from '../../../store/port.ts'

/** The runs of some steps of a flow. */
export interface SeenRuns {
  /** Null without a run, or if it was pruned before its workflow. */
  show(runId: number | null): WireStepRun | null
  find(runId: number | null): RunRecord | undefined
  /** It was made for another flow, which this one repeats. */
  isReused(runId: number | null): boolean
}

export async function findStepRuns(
  store: Pick<FlowStore, 'stepsOfRuns'> & Pick<RunQueries, 'findRuns'>,
  flowId: number,
  places: Iterable<{ readonly runId: number | null }>,
): Promise<SeenRuns> {
  const runIds = Array.from(places, ({ runId }) => runId).filter((runId) => runId !== null)
  if (runIds.length === 0) return NO_RUNS
  const records = new Map((await store.findRuns({ runIds })).map((run) => [run.id, run]))
  const reused = new Set<number>()
  for (const of of await store.stepsOfRuns({ runIds })) {
    // Ids are in the order of time, and a flow repeats only what was there before.
    if (of.flowId < flowId) reused.add(of.runId)
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

/** For looks at steps that are not about their runs. */
export const NO_RUNS: SeenRuns = { show: () => null, find: () => undefined, isReused: () => false }
