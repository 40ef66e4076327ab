import type { News, SweepStore } from '../../store/port.ts'
import type { Step } from '../loops/run-loop.ts'

const BATCH = 500
export const RECHECK_MS = 30_000

/** The guarantee behind admission: every blocked run is looked at again, whatever was missed. */
export function recheck(deps: {
  store: Pick<SweepStore, 'recheck'>
  onReady: (lanes: readonly number[]) => void
  onTimer: (dueAt: number) => void
  onNews: (news: readonly News[]) => void
  onError: (error: unknown) => void
}): Step {
  return async () => {
    const found = await deps.store.recheck({ limit: BATCH, recheckMs: RECHECK_MS })
    const { lanes, more, nextDueAt, miscounted } = found
    if (miscounted.length > 0) {
      deps.onError(new Error(`gates ${miscounted.join(', ')} were miscounted, and are put right`))
    }
    if (lanes.length > 0) deps.onReady(lanes)
    if (nextDueAt !== null) deps.onTimer(nextDueAt)
    deps.onNews(found.news)
    return { more }
  }
}
