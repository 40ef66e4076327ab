import { WHOLE } from '../../../core/workflow/step-facts.ts'
import { isFinal } from '../../../core/run/run-state.ts'
import type { RunRecord, Store } from '../../../store/port.ts'

/** Of a fan-out, so many of its first items are looked at. */
const MOST_ITEMS = 50

/**
 * Of steps that are under way, the first run that has yet to start: what it waits for is what the
 * workflow waits for. Null if something is being done, or was just now.
 */
export async function findHeldUp(
  store: Pick<Store, 'flowSteps' | 'findRuns'>,
  flowId: number,
  steps: readonly number[],
): Promise<{ readonly step: number; readonly run: RunRecord } | null> {
  const places = await Promise.all(
    steps.map(async (step) => {
      const after = { step, item: WHOLE - 1 }
      const rows = await store.flowSteps({ flowId, after, limit: MOST_ITEMS })
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
