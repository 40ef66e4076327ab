import type { RateKey } from '../../../store/port.ts'
import type { LaneHint } from './lane-hint.ts'

/** Lanes whose queue has used up its rate for a while. */
export interface LaneLimits {
  /** The rate of the queue is used up: none of its lanes is served before this time. */
  limitUntil(laneId: number, untilMono: number): void
  /** Ends rate limits whose time has come; returns when the next one ends. */
  endLimits(mono: number): number | null
  /** Ends all of them: the rates may have changed. */
  clear(): void
}

export function createLaneLimits(
  hints: ReadonlyMap<number, LaneHint>,
  /** The lane may have been opened or closed. */
  onChange: (hint: LaneHint) => void,
): LaneLimits {
  const limited = new Set<LaneHint>()
  return {
    limitUntil(laneId, untilMono) {
      const { rate } = hints.get(laneId) ?? {}
      for (const hint of hints.values()) {
        if (!rate || !isSameRate(hint.rate, rate)) continue
        hint.limitedUntilMono = untilMono
        limited.add(hint)
        onChange(hint)
      }
    },

    endLimits(mono) {
      let next: number | null = null
      for (const hint of limited) {
        const untilMono = hint.limitedUntilMono ?? mono
        if (untilMono > mono) {
          next = Math.min(next ?? untilMono, untilMono)
          continue
        }
        hint.limitedUntilMono = null
        limited.delete(hint)
        onChange(hint)
      }
      return next
    },

    clear() {
      for (const hint of limited) hint.limitedUntilMono = null
      limited.clear()
    },
  }
}

function isSameRate(a: RateKey | null, b: RateKey): boolean {
  return a !== null && a.projectId === b.projectId && a.queue === b.queue
}
