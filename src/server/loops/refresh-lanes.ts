import type { CatalogStore } from '../../store/port.ts'
import type { LaneBoard } from '../tick/lane-board.ts'
import type { Lane } from '../../core/lane.ts'
import type { Step } from './run-loop.ts'

const FROM_THE_START = 30

/**
 * Other nodes fill lanes without telling this one. Once in a while everything believed about them is
 * doubted, so that the next claims look for themselves, from the start of every lane.
 */
export function refreshLanes(deps: {
  store: Pick<CatalogStore, 'lanesAfter'>
  board: LaneBoard
  isWaited: () => boolean
  kick: () => void
}): Step {
  let after = 0
  let rounds = 0
  return async () => {
    if (!deps.isWaited()) return { more: false }
    // Two nodes may intern lanes at once, and the lower id may become visible later: look back.
    if (rounds % FROM_THE_START === 0) after = 0
    rounds += 1
    const lanes: readonly Lane[] = await deps.store.lanesAfter(after)
    deps.board.learn(lanes)
    after = lanes.at(-1)?.id ?? after
    deps.board.doubt()
    deps.kick()
    return { more: false }
  }
}
