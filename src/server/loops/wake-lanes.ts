import type { LaneBoard } from '../tick/lane-board.ts'
import type { Step } from './run-loop.ts'

/** Lanes whose queue had used up its rate go on when there is room again, not before. */
export function wakeLanes(deps: {
  board: Pick<LaneBoard, 'wake'>
  storeNow: () => number
  kick: () => void
}): Step {
  return async () => {
    const now = deps.storeNow()
    const next = deps.board.wake(now)
    deps.kick()
    return next === null ? { more: false } : { more: false, idleMs: Math.max(1, next - now) }
  }
}
