import type { Clock } from '../../core/clock.ts'

/** After this time any node processes signals that no node has answered. */
export const SWEEP_MS = 1_000
/**
 * Delay before a node processes the workflow of another node: the other node is faster if it
 * received the signal.
 */
const PEER_GRACE_MS = 40

/** When a node looks for workflows with unanswered signals, and how old these have to be. */
export interface SweepTimer {
  /** Whether a sweep is due; if so, the next one follows after a period. */
  start(): boolean
  /** Only signals at least this old are looked for. */
  readonly olderThanMs: number
  /** The store has answered the sweep. */
  answered(): void
  /** A signal for a workflow of another node was written here: looks for it soon. */
  hurry(): void
  /** Sweeps at once. */
  reset(): void
  /** Time until the next sweep. */
  readonly restMs: number
}

export function createSweepTimer(clock: Pick<Clock, 'mono'>): SweepTimer {
  let nextMono = Number.NEGATIVE_INFINITY
  let olderThanMs = SWEEP_MS
  return {
    start() {
      const mono = clock.mono()
      if (mono < nextMono) return false
      nextMono = mono + SWEEP_MS
      return true
    },
    get olderThanMs() {
      return olderThanMs
    },
    answered() {
      olderThanMs = SWEEP_MS
    },
    hurry() {
      olderThanMs = PEER_GRACE_MS
      nextMono = Math.min(nextMono, clock.mono() + PEER_GRACE_MS)
    },
    reset() {
      nextMono = Number.NEGATIVE_INFINITY
    },
    get restMs() {
      return nextMono - clock.mono()
    },
  }
}
