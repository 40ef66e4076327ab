import type { Lane } from '../../../core/queue/lane.ts'
import { WORKFLOW_EXECUTOR } from '../../../core/work/workflow-work.ts'
import type { LanePosition, Lease, RateKey } from '../../../store/port.ts'
import type { SlotReservation } from './slot-reservation.ts'

/**
 * What a node knows about one lane. Only a hint: a wrong one costs a claim or a second, never a
 * run.
 */
export interface LaneHint {
  readonly lane: Lane
  /** Runs in this lane are workflows: nodes begin them, workers do not take them. */
  readonly isWorkflow: boolean
  /** False after a claim came back short; true again when anything may have entered. */
  mayHaveWork: boolean
  /** The queue is paused, so nothing is assigned from the lane. */
  isPaused: boolean
  /** The queue has a rate: claims carry the rate, and there is no direct assignment. */
  rate: RateKey | null
  /** The queue has used up its rate until this time of the monotonic clock. */
  limitedUntilMono: number | null
  /** Grows with every possible arrival, so that an older short claim proves nothing. */
  arrivals: number
  /** The lane was claimed up to here; dead rows before it need not be stepped over again. */
  floor: LanePosition | null
  /**
   * Number of runs waiting here as counted by this node: those that entered since the lane was last
   * found empty. Infinity if they were not counted.
   */
  expected: number
  /** Number of runs that the tick being composed brings: its claims look for them. */
  incoming: number
  /** The rank last seen at the head: lanes of one project are served in this order. */
  headRank: number
  /**
   * The last position where a waiting run was seen that, as far as known, was not claimed since.
   */
  lastSeenWaiting: LanePosition | null
  /** A read of the head of the lane was requested and has not ended yet. */
  isRefreshPending: boolean
  /** What the lane was served, compared with the other lanes of its project: see `fair-turns.ts`. */
  turn: number
  /**
   * The worker that reserves slots for the lane, because its runs need more than is free anywhere.
   */
  reservation: SlotReservation | null
}

/** Settings of the queue of a lane. */
export interface LaneRules {
  readonly isPaused: boolean
  readonly rate: RateKey | null
}

export const NO_RULES: LaneRules = { isPaused: false, rate: null }

/** A lane that was just learned of: anything may wait in it. */
export function newHint(lane: Lane, rules: LaneRules): LaneHint {
  return {
    lane,
    isWorkflow: lane.executor === WORKFLOW_EXECUTOR,
    mayHaveWork: true,
    ...rules,
    limitedUntilMono: null,
    arrivals: 0,
    floor: null,
    expected: Number.POSITIVE_INFINITY,
    incoming: 0,
    headRank: 0,
    lastSeenWaiting: null,
    isRefreshPending: false,
    turn: 0,
    reservation: null,
  }
}

/** A row entered the lane at this position; `null` when the position is unknown. */
export function noteEntered(hint: LaneHint, place: LanePosition | null): void {
  hint.arrivals += 1
  hint.expected = place ? hint.expected + 1 : Number.POSITIVE_INFINITY
  if (!hint.mayHaveWork) hint.headRank = place?.rank ?? hint.headRank
  else if (place && place.rank < hint.headRank) hint.headRank = place.rank
  if (place && (!hint.lastSeenWaiting || isBefore(hint.lastSeenWaiting, place)))
    hint.lastSeenWaiting = place
  if (!place || isBefore(place, hint.floor)) hint.floor = null
  hint.mayHaveWork = true
}

/**
 * A claim for `asked` rows returned these. Returns whether that proves the lane empty; a claim
 * proves nothing if something entered meanwhile.
 */
export function noteClaimed(
  hint: LaneHint,
  asked: number,
  leases: readonly Lease[],
  isProof: boolean,
): boolean {
  const last = leases.at(-1)
  hint.isRefreshPending = false
  const isMore = leases.length === asked && leases.length > hint.expected
  hint.expected = isMore ? Number.POSITIVE_INFINITY : Math.max(0, hint.expected - leases.length)
  if (last) {
    hint.headRank = last.rank
    hint.reservation = null
    if (hint.lastSeenWaiting && isBefore(hint.lastSeenWaiting, last)) hint.lastSeenWaiting = null
  }
  // Something entered while the claim ran, so its result may already be outdated.
  if (!isProof) return false
  if (last) hint.floor = { rank: last.rank, pos: last.pos }
  return leases.length < asked
}

/** Nothing waits in the lane. */
export function noteEmpty(hint: LaneHint): void {
  hint.mayHaveWork = false
  hint.expected = 0
  hint.lastSeenWaiting = null
  hint.reservation = null
}

/** Nothing is known about the lane any more. */
export function forgetHint(hint: LaneHint): void {
  hint.arrivals += 1
  hint.expected = Number.POSITIVE_INFINITY
  hint.floor = null
  hint.mayHaveWork = true
}

/**
 * Number of rows worth requesting: slots requested here are not available to other lanes meanwhile.
 * One more than counted: a missing row shows that the lane is empty, an extra one that the count is
 * unknown.
 */
export function rowsWanted({ expected, incoming }: LaneHint): number {
  return expected + incoming + 1
}

/** Whether a run is known to wait there, so that its head need not be read. */
export function isKnownToWait({ mayHaveWork, lastSeenWaiting: standing }: LaneHint): boolean {
  return mayHaveWork && standing !== null
}

/** At or before the floor, where a claim does not look. */
export function isBefore(place: LanePosition, floor: LanePosition | null): boolean {
  if (!floor) return false
  return place.rank < floor.rank || (place.rank === floor.rank && place.pos <= floor.pos)
}
