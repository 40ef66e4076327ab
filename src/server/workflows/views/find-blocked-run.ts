import { WHOLE_STEP } from '../../../core/workflow/progress/step-facts.ts'
import { isFinal } from '../../../core/run/run-state.ts'
import type { RunRecord, Store } from '../../../store/port.ts'

/** How many of the first items of a fan-out are examined. */
const MOST_ITEMS = 50

/**
 * Finds the first run of the running steps that has not started: what it waits for is what the
 * workflow waits for. Null if something is running, or was just now.
 */
export async function findBlockedRun(
  store: Pick<Store, 'workflowSteps' | 'findRuns'>,
  workflowId: number,
  steps: readonly number[],
): Promise<{ readonly step: number; readonly run: RunRecord } | null> {
  const places = await Promise.all(
    steps.map(async (step) => {
      const after = { step, item: WHOLE_STEP - 1 }
      const rows = await store.workflowSteps({ workflowId, after, limit: MOST_ITEMS })
      return rows.filter((row) => row.step === step && row.state === 'running')
    }),
  )
  const runIds = places.flat().flatMap(({ runId }) => (runId === null ? [] : [runId]))
  const runs = await store.findRuns({ runIds })
  if (runs.some(({ state }) => state === 'running' || isFinal(state))) return null
  const [firstId] = runIds
  const run = runs.find(({ id }) => id === firstId)
  const place = places.flat().find(({ runId }) => runId === firstId)
  return run && place ? { step: place.step, run } : null
}
