import type { GroundTruth } from './ground-truth.ts'

/** A run that waits for a slot, from its row. */
export interface WaitingRun {
  readonly queue: string
  readonly laneId: number
  readonly weight: number
  /** A smaller rank is more urgent. */
  readonly rank: number
  /** Order among runs of the same rank: to the second, because several nodes accept runs. */
  readonly pos: number
  readonly sinceMs: number
}

/** A run that was granted a slot. */
export interface GrantedRun {
  readonly runId: number
  readonly queue: string
  readonly laneId: number
  /** The node that granted it. */
  readonly node: number
  readonly atMs: number
}

interface QueuePosition {
  readonly waiting: WaitingRun
  /** How many runs are to be granted until this one, itself included. */
  number: number
  /** How many runs were granted meanwhile: of its own lane, and of other lanes by each node. */
  readonly passed: Map<string, { times: number; lastMs: number }>
}

/**
 * S2.6: a run at position N of a queue is among the next 2N runs granted from its lane, by any node. No other
 * lane of the queue gets more turns meanwhile, per node, plus one: the rank of a lane's next run is known only
 * when it is granted. More urgent runs count as ahead even if they come later. Several runs granted to one
 * worker from another lane at once are one turn.
 */
export function createQueueOrderInvariant(truth: GroundTruth): {
  joined(runId: number, waiting: WaitingRun): void
  left(runId: number): void
  /** `isCounted`: whether the node that granted it must have known by then that the other run was waiting. */
  granted(by: GrantedRun, isCounted: (other: WaitingRun) => boolean): void
} {
  const waitingRuns = new Map<number, QueuePosition>()

  /** Returns whether this grant is one too many. */
  const countPassed = (position: QueuePosition, { laneId, node, atMs }: GrantedRun): boolean => {
    const isOwn = laneId === position.waiting.laneId
    const whose = isOwn ? 'own' : `${laneId} by ${node}`
    const { times, lastMs } = position.passed.get(whose) ?? { times: 0, lastMs: -1 }
    const more = !isOwn && lastMs === atMs ? times : times + 1
    position.passed.set(whose, { times: more, lastMs: atMs })
    return more >= 2 * position.number + (isOwn ? 0 : 1)
  }

  return {
    joined(runId, waiting) {
      let number = 1
      for (const other of waitingRuns.values()) {
        if (other.waiting.queue !== waiting.queue) continue
        if (isAhead(other.waiting, waiting)) number += 1
        else other.number += 1
      }
      waitingRuns.set(runId, { waiting, number, passed: new Map() })
    },
    left: (runId) => void waitingRuns.delete(runId),
    granted(one, isCounted) {
      for (const [runId, position] of waitingRuns) {
        const { waiting, number } = position
        if (runId === one.runId || waiting.queue !== one.queue || waiting.weight > 1) continue
        if (!isCounted(waiting) || !countPassed(position, one)) continue
        const detail = `run ${runId} stood at position ${number} of ${one.queue}, and lane ${one.laneId} was served too often before it`
        truth.violate('S2.6 a run waited for more than its turn', detail)
      }
    },
  }
}

function isAhead(a: WaitingRun, b: WaitingRun): boolean {
  return a.rank < b.rank || (a.rank === b.rank && a.pos < b.pos)
}
