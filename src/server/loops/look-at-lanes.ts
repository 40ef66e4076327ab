import type { Lane } from '../../core/lane.ts'
import type { CatalogStore, SweepStore } from '../../store/port.ts'
import type { LaneBoard } from '../tick/lane-board.ts'
import type { Step } from './run-loop.ts'

const FROM_THE_START = 30

/**
 * Other nodes fill and empty lanes without telling this one. Once in a while, and when somebody is
 * not sure, the store is asked which lanes have work: one query instead of a claim on every lane.
 */
export function lookAtLanes(deps: {
  store: Pick<CatalogStore, 'lanesAfter'> & Pick<SweepStore, 'laneHeads'>
  board: LaneBoard
  isWaited: () => boolean
  kick: () => void
}): Step {
  const { store, board } = deps
  let after = 0
  let rounds = 0
  return async () => {
    if (!deps.isWaited()) return { more: false }
    // Two nodes may intern lanes at once, and the lower id may become visible later: look back.
    if (rounds % FROM_THE_START === 0) after = 0
    rounds += 1
    const lanes: readonly Lane[] = await store.lanesAfter(after)
    board.learn(lanes)
    after = lanes.at(-1)?.id ?? after
    const seen = board.look()
    seen(await store.laneHeads())
    deps.kick()
    return { more: false }
  }
}
