import type { Truth } from './truth.ts'

/** Somebody in line for a slot, as its row says. */
export interface Standing {
  readonly queue: string
  readonly laneId: number
  readonly weight: number
  /** Smaller is more urgent. */
  readonly rank: number
  readonly sinceMs: number
}

interface Place {
  readonly standing: Standing
  /** How many are to be served until it is its turn, itself included. */
  number: number
  /** How many were taken from its queue meanwhile. */
  passed: number
}

/**
 * S2.6: whoever stands at place N of a queue is among the next 2N that are taken from it, by whomever. Those
 * who are more urgent count as ahead even if they come later. Lanes of a queue take turns by what was served
 * of them, in slots: for each run of one slot another lane has at most one, and one before the first.
 */
export function createLineLaw(truth: Truth): {
  joined(runId: number, standing: Standing): void
  left(runId: number): void
  /** `isCounted`: whether whoever took it must have known that the one who stood there so long was waiting. */
  taken(runId: number, queue: string, isCounted: (other: Standing) => boolean): void
} {
  const line = new Map<number, Place>()

  return {
    joined(runId, standing) {
      let number = 1
      for (const other of line.values()) {
        if (other.standing.queue !== standing.queue) continue
        if (other.standing.rank <= standing.rank) number += 1
        else other.number += 1
      }
      line.set(runId, { standing, number, passed: 0 })
    },
    left: (runId) => void line.delete(runId),
    taken(runId, queue, isCounted) {
      const lanes = new Set<number>()
      for (const { standing } of line.values()) {
        if (standing.queue === queue) lanes.add(standing.laneId)
      }
      for (const [other, place] of line) {
        const { standing, number } = place
        if (other === runId || standing.queue !== queue || standing.weight > 1) continue
        if (!isCounted(standing)) continue
        place.passed += 1
        if (place.passed < 2 * number + lanes.size) continue
        const detail = `run ${other} stood at place ${number} of ${queue}, and ${place.passed} were taken before it`
        truth.violate('S2.6 a run waited for more than its turn', detail)
      }
    },
  }
}
