import type { Truth } from './ground-truth.ts'

/** Somebody in line for a slot, as its row says. */
export interface Standing {
  readonly queue: string
  readonly laneId: number
  readonly weight: number
  /** Smaller is more urgent. */
  readonly rank: number
  /** Among those as urgent, when it came: to the second, where several nodes take runs in. */
  readonly pos: number
  readonly sinceMs: number
}

/** Somebody who was given one. */
export interface Taken {
  readonly runId: number
  readonly queue: string
  readonly laneId: number
  /** By whom. */
  readonly node: number
  readonly atMs: number
}

interface Place {
  readonly standing: Standing
  /** How many are to be served until it is its turn, itself included. */
  number: number
  /** How often somebody was taken meanwhile: of its own lane, and of others by each node. */
  readonly passed: Map<string, { times: number; lastMs: number }>
}

/**
 * S2.6: whoever stands at place N of a queue is among the next 2N that are taken from its lane, by whomever, and
 * no other lane of the queue has more turns meanwhile, as each node counts them, but one: how urgent the next of a
 * lane is turns out when it is taken. Those who are more urgent count as ahead even if they come later. What a worker
 * with several slots takes of another lane at once is one turn.
 */
export function createLineLaw(truth: Truth): {
  joined(runId: number, standing: Standing): void
  left(runId: number): void
  /** `isCounted`: whether whoever took it must have known that the one who stood there so long was waiting. */
  taken(by: Taken, isCounted: (other: Standing) => boolean): void
} {
  const line = new Map<number, Place>()

  /** Says whether that was once too often. */
  const pass = (place: Place, { laneId, node, atMs }: Taken): boolean => {
    const isOwn = laneId === place.standing.laneId
    const whose = isOwn ? 'own' : `${laneId} by ${node}`
    const { times, lastMs } = place.passed.get(whose) ?? { times: 0, lastMs: -1 }
    const more = !isOwn && lastMs === atMs ? times : times + 1
    place.passed.set(whose, { times: more, lastMs: atMs })
    return more >= 2 * place.number + (isOwn ? 0 : 1)
  }

  return {
    joined(runId, standing) {
      let number = 1
      for (const other of line.values()) {
        if (other.standing.queue !== standing.queue) continue
        if (isAhead(other.standing, standing)) number += 1
        else other.number += 1
      }
      line.set(runId, { standing, number, passed: new Map() })
    },
    left: (runId) => void line.delete(runId),
    taken(one, isCounted) {
      for (const [runId, place] of line) {
        const { standing, number } = place
        if (runId === one.runId || standing.queue !== one.queue || standing.weight > 1) continue
        if (!isCounted(standing) || !pass(place, one)) continue
        const detail = `run ${runId} stood at place ${number} of ${one.queue}, and lane ${one.laneId} was served too often before it`
        truth.violate('S2.6 a run waited for more than its turn', detail)
      }
    },
  }
}

function isAhead(a: Standing, b: Standing): boolean {
  return a.rank < b.rank || (a.rank === b.rank && a.pos < b.pos)
}
