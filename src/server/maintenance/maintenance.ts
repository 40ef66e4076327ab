import { idAtMs } from '../../core/ids.ts'
import type { ScheduleStore, Upkeep } from '../../store/port.ts'
import type { Step } from '../loops/run-loop.ts'

const BATCH = 1_000

/** Retention: what ended longer ago than it is kept goes, a bite at a time. */
export function retain(deps: {
  store: Pick<Upkeep, 'prune'>
  storeNow: () => number
  keepMs: number
}): Step {
  return () => deps.store.prune({ endedBefore: deps.storeNow() - deps.keepMs, limit: BATCH })
}

/** What became of times is kept as long as runs are. */
export function forgetOccurrences(deps: {
  store: Pick<ScheduleStore, 'pruneOccurrences'>
  storeNow: () => number
  keepMs: number
}): Step {
  return () =>
    deps.store.pruneOccurrences({ before: idAtMs(deps.storeNow() - deps.keepMs), limit: BATCH })
}

export function maintain(deps: { store: Pick<Upkeep, 'maintain'> }): Step {
  return async () => {
    await deps.store.maintain()
    return { more: false }
  }
}
