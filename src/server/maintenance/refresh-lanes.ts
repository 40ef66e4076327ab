import type { Lane } from '../../core/queue/lane.ts'
import type { CatalogStore, SweepStore } from '../../store/port.ts'
import type { LaneBoard } from '../dispatch/lane-index.ts'
import type { Step } from '../loops/run-loop.ts'

const FROM_THE_START = 30

/** Asks the store which lanes there are and which have work: one query, not a claim on every lane. */
export function createLook(deps: {
  store: Pick<CatalogStore, 'lanesAfter'> & Pick<SweepStore, 'laneHeads'>
  board: LaneBoard
}): () => Promise<void> {
  const { store, board } = deps
  let after = 0
  let rounds = 0
  return async () => {
    // Two nodes may intern lanes at once, and the lower id may become visible later: look back.
    if (rounds % FROM_THE_START === 0) after = 0
    rounds += 1
    const lanes: readonly Lane[] = await store.lanesAfter(after)
    board.learn(lanes)
    after = lanes.at(-1)?.id ?? after
    const { most, seen } = board.look()
    seen(await store.laneHeads({ most }))
  }
}

/**
 * Other nodes fill and empty lanes without telling this one, so it looks once in a while, and when it
 * is not sure. Also while all its workers are busy: the one that has room next is given work at once.
 */
export function lookAtLanes(deps: {
  look: () => Promise<void>
  hasWorkers: () => boolean
  kick: () => void
}): Step {
  return async () => {
    if (!deps.hasWorkers()) return { more: false }
    await deps.look()
    deps.kick()
    return { more: false }
  }
}
