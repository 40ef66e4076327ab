import { FLOW_EXECUTOR } from '../../core/work/workflow-work.ts'
import type { Lane, Offer } from '../../core/queue/lane.ts'
import type { LaneHead, LanePlace, Lease, RateKey } from '../../store/port.ts'
import type { Hold } from './slot-reservation.ts'
import { createViews, type LaneView } from './lane-view.ts'

/** What a node believes about one lane. A hint only: a wrong one costs a claim or a second, never a run. */
export interface LaneHint {
  readonly lane: Lane
  /** What stands here is begun by nodes, not taken by workers. */
  readonly isFlow: boolean
  /** False once a claim came back short; true again when anything may have entered. */
  mayHaveWork: boolean
  /** Nothing is dealt from it: its queue is paused. */
  isResting: boolean
  /** Its queue has a rate: nothing is handed over past the line, and claims say so. */
  rate: RateKey | null
  /** Its queue has used up its rate until then, by a clock that nobody sets. */
  napsUntilMono: number | null
  /** Grows with everything that may have entered, so that an older short claim proves nothing. */
  arrivals: number
  /** Up to here the lane was claimed; dead rows before it need not be stepped over again. */
  floor: LanePlace | null
  /**
   * How many runs stand here by this node's own account: those that entered since it was last found
   * empty. Infinity when nobody counted.
   */
  expected: number
  /** How many runs the tick being composed brings: its claims look after them. */
  incoming: number
  /** The rank last seen at the head: lanes of one project are served in this order. */
  headRank: number
  /** The last place where a run was seen to stand and has not been claimed since, as far as is known. */
  standing: LanePlace | null
  /** The store was asked who stands here, and has not answered yet. */
  isAskedFor: boolean
  /** What it was served, compared with the other lanes of its project: see `fair-turns.ts`. */
  turn: number
  /** The worker that keeps room for it, because its runs are heavier than what is free anywhere. */
  hold: Hold | null
}

/** What was said about the queue of a lane. */
export interface LaneRules {
  readonly isResting: boolean
  readonly rate: RateKey | null
}

export interface LaneBoard {
  learn(lanes: readonly Lane[]): void
  get(laneId: number): LaneHint | undefined
  /** A row entered the lane at this place; `null` when the place is not known. */
  entered(laneId: number, place: LanePlace | null): void
  /** A claim that asked for `asked` rows brought these; no proof if something entered meanwhile. */
  claimed(laneId: number, asked: number, leases: readonly Lease[], isProof: boolean): void
  /** Forgets what is believed, so that the next claims read every lane from its start. */
  doubt(): void
  /** Before the store is asked who stands at the heads: how far to count, and who takes the answer. */
  look(): { readonly most: number; seen(heads: readonly LaneHead[]): void }
  lanes(): Iterable<Lane>
  /** From now on lanes follow these rules; who naps is woken, because its rate may be another now. */
  follow(rulesOf: (lane: Lane) => LaneRules): void
  /** The rate of its queue is used up: no lane of that queue is dealt from before then. */
  nap(laneId: number, untilMono: number): void
  /** Lets those go on whose time has come; says when the next one's does. */
  wake(mono: number): number | null
  /** Whether a worker keeps room for a run of another lane. */
  isRoomKept(laneId: number): boolean
  /** The lanes an offer can serve. */
  viewOf(offer: Offer): LaneView
}

/** `onFlow`: a run that consists of others may stand in a lane; no worker takes it, so nobody else would notice. */
export function createLaneBoard(onFlow: (laneId: number) => void = () => {}): LaneBoard {
  const hints = new Map<number, LaneHint>()
  const views = createViews()
  const napping = new Set<LaneHint>()
  let rulesOf: (lane: Lane) => LaneRules = () => NO_RULES

  const setWork = (hint: LaneHint, mayHaveWork: boolean) => {
    hint.mayHaveWork = mayHaveWork
    if (!mayHaveWork) {
      hint.expected = 0
      hint.standing = null
      hint.hold = null
    }
    views.changed(hint)
  }

  const entered = (hint: LaneHint, place: LanePlace | null) => {
    hint.arrivals += 1
    hint.expected = place ? hint.expected + 1 : Number.POSITIVE_INFINITY
    if (!hint.mayHaveWork) hint.headRank = place?.rank ?? hint.headRank
    else if (place && place.rank < hint.headRank) hint.headRank = place.rank
    if (place && (!hint.standing || isBefore(hint.standing, place))) hint.standing = place
    if (!place || isBefore(place, hint.floor)) hint.floor = null
    setWork(hint, true)
    if (hint.isFlow) onFlow(hint.lane.id)
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
      if (hint) entered(hint, place)
    },

    claimed(laneId, asked, leases, isProof) {
      const hint = hints.get(laneId)
      if (!hint) return
      const last = leases.at(-1)
      hint.isAskedFor = false
      const isMore = leases.length === asked && leases.length > hint.expected
      hint.expected = isMore ? Number.POSITIVE_INFINITY : Math.max(0, hint.expected - leases.length)
      if (last) {
        hint.headRank = last.rank
        hint.hold = null
        if (hint.standing && isBefore(hint.standing, last)) hint.standing = null
      }
      // Something entered while the claim ran: what it proved may already be untrue.
      if (!isProof) return
      if (last) hint.floor = { rank: last.rank, pos: last.pos }
      if (leases.length < asked) setWork(hint, false)
    },

    doubt() {
      for (const hint of hints.values()) {
        hint.arrivals += 1
        hint.expected = Number.POSITIVE_INFINITY
        hint.floor = null
        setWork(hint, true)
      }
    },

    look() {
      const before = new Map(Array.from(hints.values(), (hint) => [hint, hint.arrivals]))
      const most = Math.min(COUNTED_AT_MOST, Math.max(1, Math.floor(ALL_COUNTED / hints.size)))
      const seen = (heads: readonly LaneHead[]) => {
        for (const { laneId, rank, pos, depth } of heads) {
          const hint = hints.get(laneId)
          if (!hint) continue
          const since = hint.arrivals - (before.get(hint) ?? 0)
          before.delete(hint)
          hint.isAskedFor = false
          const counted = depth < most ? depth + since : Number.POSITIVE_INFINITY
          // What could not be counted on its way in since then can still not.
          const expected = since > 0 ? Math.max(counted, hint.expected) : counted
          entered(hint, { rank, pos })
          hint.expected = expected
          hint.headRank = rank
        }
        for (const [hint, arrivals] of before) {
          hint.isAskedFor = false
          // What entered since may be newer than the answer.
          if (hint.arrivals === arrivals && hint.mayHaveWork) setWork(hint, false)
        }
      }
      return { most, seen }
    },

    lanes: () => [...hints.values()].map(({ lane }) => lane),

    follow(rules) {
      rulesOf = rules
      napping.clear()
      for (const hint of hints.values()) {
        Object.assign(hint, rulesOf(hint.lane), { napsUntilMono: null })
        views.changed(hint)
      }
    },

    nap(laneId, untilMono) {
      const { rate } = hints.get(laneId) ?? {}
      for (const hint of hints.values()) {
        if (!rate || !isSameRate(hint.rate, rate)) continue
        hint.napsUntilMono = untilMono
        napping.add(hint)
        views.changed(hint)
      }
    },

    wake(mono) {
      let next: number | null = null
      for (const hint of napping) {
        const untilMono = hint.napsUntilMono ?? mono
        if (untilMono > mono) {
          next = Math.min(next ?? untilMono, untilMono)
          continue
        }
        hint.napsUntilMono = null
        napping.delete(hint)
        views.changed(hint)
      }
      return next
    },

    isRoomKept: (laneId) =>
      [...hints.values()].some(
        (hint) => hint.lane.id !== laneId && hint.hold !== null && isKnownToWait(hint),
      ),

    viewOf: views.of,
  }
}

/**
 * How many rows are worth asking for: room that is asked for here is not there for others meanwhile.
 * One more than were counted: if it is not there the lane is empty, if it is nobody knows how many are.
 */
export function wantedFrom({ expected, incoming }: LaneHint): number {
  return expected + incoming + 1
}

/** A run stands there, as surely as a node can know: it need not be looked for. */
export function isKnownToWait({ mayHaveWork, standing }: LaneHint): boolean {
  return mayHaveWork && standing !== null
}

/** At or before the floor, where a claim does not look. */
export function isBefore(place: LanePlace, floor: LanePlace | null): boolean {
  if (!floor) return false
  return place.rank < floor.rank || (place.rank === floor.rank && place.pos <= floor.pos)
}

/** How far a look counts in one lane, and in all of them together. */
const COUNTED_AT_MOST = 64
const ALL_COUNTED = 20_000

const NO_RULES: LaneRules = { isResting: false, rate: null }

function isSameRate(a: RateKey | null, b: RateKey): boolean {
  return a !== null && a.projectId === b.projectId && a.queue === b.queue
}

function newHint(lane: Lane, rules: LaneRules): LaneHint {
  return {
    lane,
    isFlow: lane.executor === FLOW_EXECUTOR,
    mayHaveWork: true,
    ...rules,
    napsUntilMono: null,
    arrivals: 0,
    floor: null,
    expected: Number.POSITIVE_INFINITY,
    incoming: 0,
    headRank: 0,
    standing: null,
    isAskedFor: false,
    turn: 0,
    hold: null,
  }
}
