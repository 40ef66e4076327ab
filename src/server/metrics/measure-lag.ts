import type { Clock } from '../../core/clock.ts'
import type { LoopStep } from '../loops/run-loop.ts'

/** Measures how late this loop runs, caused by other work on the thread of the node. */
export function measureLag(deps: {
  clock: Clock
  periodMs: number
  onLag(ms: number): void
}): LoopStep {
  const { clock, periodMs, onLag } = deps
  let lastMono: number | undefined
  return async () => {
    const mono = clock.mono()
    if (lastMono !== undefined) onLag(Math.max(0, mono - lastMono - periodMs))
    lastMono = mono
    return { more: false }
  }
}
