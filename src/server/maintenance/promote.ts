import type { SweepStore } from '../../store/port.ts'
import type { Step } from '../loops/run-loop.ts'

/** Positions are ids and must be minted before anyone knows how many are due: ask for few at first. */
const SMALL_BATCH = 16
const LARGE_BATCH = 1_000
/** Another node may have written a timer since; nobody announces it, so nobody sleeps longer. */
const LONGEST_NAP_MS = 1_000

/** Brings runs whose time has come into their lanes, and sleeps until the next is due. */
export function promote(deps: {
  store: Pick<SweepStore, 'promote'>
  mintId: () => number
  storeNow: () => number
  onReady: (lanes: readonly number[]) => void
  /** How long after its time the first of those that were due came into its lane. */
  onLag: (ms: number) => void
}): Step {
  let batch = SMALL_BATCH
  let awaitedAt: number | null = null
  return async () => {
    const positions = Array.from({ length: batch }, deps.mintId)
    const { promoted, lanes, nextDueAt } = await deps.store.promote({ positions })
    if (lanes.length > 0) deps.onReady(lanes)
    // One that was written since the last look was not awaited; nobody knows how late it is.
    const lagMs = awaitedAt === null ? -1 : deps.storeNow() - awaitedAt
    if (promoted > 0 && lagMs >= 0) deps.onLag(lagMs)
    awaitedAt = nextDueAt
    const napMs = nextDueAt === null ? LONGEST_NAP_MS : nextDueAt - deps.storeNow()
    const more = promoted === batch
    batch = more ? LARGE_BATCH : SMALL_BATCH
    return { more, idleMs: Math.min(LONGEST_NAP_MS, Math.max(1, napMs)) }
  }
}
