import type { Clock } from '../../core/clock.ts'
import type { Step } from '../loops/run-loop.ts'

/** How late this loop comes round: what else the node does on its one thread. */
export function measureLag(deps: {
  clock: Clock
  periodMs: number
  onLag(ms: number): void
}): Step {
  const { clock, periodMs, onLag } = deps
  let lastMono: number | undefined
  return async () => {
    const mono = clock.mono()
    if (lastMono !== undefined) onLag(Math.max(0, mono - lastMono - periodMs))
    lastMono = mono
    return { more: false }
  }
}
