import type { Signal, SweepStore } from '../../store/port.ts'
import type { LoopStep } from '../loops/run-loop.ts'
import type { NodeSignals } from '../signals/signals.ts'

const BATCH = 500
export const RECHECK_PERIOD_MS = 30_000

/** The guarantee behind admission: every blocked run is checked again, whatever was missed. */
export function createRecheckStep(deps: {
  store: Pick<SweepStore, 'recheck'>
  signals: Pick<NodeSignals, 'lanesReady' | 'timerWritten'>
  receiveSignals: (signals: readonly Signal[]) => void
  onError: (error: unknown) => void
}): LoopStep {
  return async () => {
    const found = await deps.store.recheck({ limit: BATCH, recheckMs: RECHECK_PERIOD_MS })
    const { lanes, more, nextDueAt, miscounted } = found
    if (miscounted.length > 0) {
      deps.onError(new Error(`gates ${miscounted.join(', ')} were miscounted, and are put right`))
    }
    if (lanes.length > 0) deps.signals.lanesReady(lanes)
    if (nextDueAt !== null) deps.signals.timerWritten(nextDueAt)
    deps.receiveSignals(found.signals)
    return { more }
  }
}
