import type { Clock } from '../../core/clock.ts'
import type { LaneBoard } from '../dispatch/lane-index.ts'
import type { Step } from './run-loop.ts'

/** Lanes whose queue had used up its rate go on when there is room again, not before. */
export function wakeLanes(deps: {
  board: Pick<LaneBoard, 'wake'>
  clock: Pick<Clock, 'mono'>
  kick: () => void
}): Step {
  return async () => {
    const mono = deps.clock.mono()
    const next = deps.board.wake(mono)
    deps.kick()
    return next === null ? { more: false } : { more: false, idleMs: Math.max(1, next - mono) }
  }
}
