import type { Lane, Offer } from '../../../core/queue/lane.ts'
import type { LanePosition, Lease } from '../../../store/port.ts'
import type { NodeSignals } from '../../signals/signals.ts'
import {
  forgetHint,
  isKnownToWait,
  type LaneHint,
  type LaneRules,
  newHint,
  NO_RULES,
  noteClaimed,
  noteEmpty,
  noteEntered,
} from './lane-hint.ts'
import { createLaneLimits } from './lane-limits.ts'
import { type LaneHeadRefresh, startLaneHeadRefresh } from './lane-head-refresh.ts'
import { createLaneViews, type LaneView } from './lane-view.ts'

/** The lanes that this node knows, and what it knows about them. */
export interface LaneIndex {
  learn(lanes: readonly Lane[]): void
  get(laneId: number): LaneHint | undefined
  /** A row entered the lane at this position; `null` when the position is unknown. */
  entered(laneId: number, place: LanePosition | null): void
  /** A claim for `asked` rows returned these; it proves nothing if something entered meanwhile. */
  claimed(laneId: number, asked: number, leases: readonly Lease[], isProof: boolean): void
  /** Forgets the hints, so that the next claims read every lane from its start. */
  forgetHints(): void
  /**
   * Called before the heads of the lanes are read from the store: how far to count, and a
   * function that applies what was read.
   */
  startRefresh(): LaneHeadRefresh
  lanes(): Iterable<Lane>
  /**
   * Applies new rules to all lanes; rate-limited lanes become available, because their rate may
   * have changed.
   */
  applyRules(rulesOf: (lane: Lane) => LaneRules): void
  /** The rate of the queue is used up: none of its lanes is served before this time. */
  limitUntil(laneId: number, untilMono: number): void
  /** Ends rate limits whose time has come; returns when the next one ends. */
  endLimits(mono: number): number | null
  /** Whether a worker reserves slots for a run of another lane. */
  isSlotReserved(laneId: number): boolean
  /** The lanes an offer can serve. */
  viewOf(offer: Offer): LaneView
}

/**
 * Sends a signal when a workflow run may wait in a lane: no worker takes it, so nothing else would
 * notice.
 */
export function createLaneIndex(
  signals: Pick<NodeSignals, 'workflowWaiting'> = { workflowWaiting: () => {} },
): LaneIndex {
  const hints = new Map<number, LaneHint>()
  const views = createLaneViews()
  const limits = createLaneLimits(hints, views.changed)
  let rulesOf: (lane: Lane) => LaneRules = () => NO_RULES

  const hasEntered = (hint: LaneHint) => {
    views.changed(hint)
    if (hint.isWorkflow) signals.workflowWaiting(hint.lane.id)
  }

  return {
    learn(lanes) {
      for (const lane of lanes) {
        if (hints.has(lane.id)) continue
        const hint = newHint(lane, rulesOf(lane))
        hints.set(lane.id, hint)
        views.learn(hint)
      }
    },

    get: (laneId) => hints.get(laneId),

    entered(laneId, place) {
      const hint = hints.get(laneId)
      if (!hint) return
      noteEntered(hint, place)
      hasEntered(hint)
    },

    claimed(laneId, asked, leases, isProof) {
      const hint = hints.get(laneId)
      if (!hint || !noteClaimed(hint, asked, leases, isProof)) return
      noteEmpty(hint)
      views.changed(hint)
    },

    forgetHints() {
      for (const hint of hints.values()) {
        forgetHint(hint)
        views.changed(hint)
      }
    },

    startRefresh: () =>
      startLaneHeadRefresh(hints, { entered: hasEntered, emptied: views.changed }),

    lanes: () => [...hints.values()].map(({ lane }) => lane),

    applyRules(rules) {
      rulesOf = rules
      limits.clear()
      for (const hint of hints.values()) {
        const { isPaused, rate } = rulesOf(hint.lane)
        hint.isPaused = isPaused
        hint.rate = rate
        views.changed(hint)
      }
    },

    limitUntil: limits.limitUntil,
    endLimits: limits.endLimits,

    isSlotReserved: (laneId) =>
      [...hints.values()].some(
        (hint) => hint.lane.id !== laneId && hint.reservation !== null && isKnownToWait(hint),
      ),

    viewOf: views.of,
  }
}
