import type { Lane, Offer } from '../../core/lane.ts'
import { tierOf } from '../../core/lane.ts'
import type { LanePlace, Lease } from '../../store/port.ts'

/** What a node believes about one lane. A hint only: a wrong one costs a claim or a second, never a run. */
export interface LaneHint {
  readonly lane: Lane
  /** False once a claim came back short; true again when anything may have entered. */
  mayHaveWork: boolean
  /** Grows with everything that may have entered, so that an older short claim proves nothing. */
  arrivals: number
  /** Up to here the lane was claimed; dead rows before it need not be stepped over again. */
  floor: LanePlace | null
  /** The rank last seen at the head: lanes of one project are served in this order. */
  headRank: number
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
  lanes(): Iterable<Lane>
  /** From now on nothing is dealt from lanes for which this says so. */
  rest(isResting: (lane: Lane) => boolean): void
  /** The lanes an offer can serve, by tier; recomputed only when lanes were added or put to rest. */
  tiersFor(offer: Offer): readonly (readonly LaneHint[])[]
}

export function createLaneBoard(): LaneBoard {
  const hints = new Map<number, LaneHint>()
  const tiers = new WeakMap<Offer, { known: number; round: number; tiers: LaneHint[][] }>()
  let isResting: (lane: Lane) => boolean = () => false
  let round = 0

  return {
    learn(lanes) {
      for (const lane of lanes) {
        if (hints.has(lane.id)) continue
        hints.set(lane.id, { lane, mayHaveWork: true, arrivals: 0, floor: null, headRank: 0 })
      }
    },

    get: (laneId) => hints.get(laneId),

    entered(laneId, place) {
      const hint = hints.get(laneId)
      if (!hint) return
      hint.arrivals += 1
      if (place && place.rank < hint.headRank) hint.headRank = place.rank
      if (!hint.mayHaveWork) hint.headRank = place?.rank ?? hint.headRank
      hint.mayHaveWork = true
      if (!place || isBefore(place, hint.floor)) hint.floor = null
    },

    claimed(laneId, asked, leases, isProof) {
      const hint = hints.get(laneId)
      if (!hint) return
      const last = leases.at(-1)
      if (last) hint.headRank = last.rank
      // Something entered while the claim ran: what it proved may already be untrue.
      if (!isProof) return
      if (last) hint.floor = { rank: last.rank, pos: last.pos }
      if (leases.length < asked) hint.mayHaveWork = false
    },

    doubt() {
      for (const hint of hints.values()) {
        hint.mayHaveWork = true
        hint.arrivals += 1
        hint.floor = null
      }
    },

    lanes: () => [...hints.values()].map(({ lane }) => lane),

    rest(isRestingNow) {
      isResting = isRestingNow
      round += 1
    },

    tiersFor(offer) {
      const known = tiers.get(offer)
      if (known && known.known === hints.size && known.round === round) return known.tiers
      const fresh: LaneHint[][] = offer.queues.map(() => [])
      for (const hint of hints.values()) {
        if (!isResting(hint.lane)) fresh[tierOf(offer, hint.lane)]?.push(hint)
      }
      tiers.set(offer, { known: hints.size, round, tiers: fresh })
      return fresh
    },
  }
}

/** At or before the floor, where a claim does not look. */
export function isBefore(place: LanePlace, floor: LanePlace | null): boolean {
  if (!floor) return false
  return place.rank < floor.rank || (place.rank === floor.rank && place.pos <= floor.pos)
}
