import type { SweepStore } from '../../store/port.ts'
import type { Step } from './run-loop.ts'

const BATCH = 500
export const RECHECK_MS = 30_000

/** The guarantee behind admission: every blocked run is looked at again, whatever was missed. */
export function recheck(deps: {
  store: Pick<SweepStore, 'recheck'>
  onReady: (lanes: readonly number[]) => void
}): Step {
  return async () => {
    const { lanes, more } = await deps.store.recheck({ limit: BATCH, recheckMs: RECHECK_MS })
    if (lanes.length > 0) deps.onReady(lanes)
    return { more }
  }
}
