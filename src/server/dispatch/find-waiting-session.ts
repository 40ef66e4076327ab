import { isListening, type Session } from '../sessions/session.ts'
import type { SessionIndex } from '../sessions/session-index.ts'
import type { LaneHint } from './lanes/lane-hint.ts'
import type { LaneIndex } from './lanes/lane-index.ts'
import type { LaneView } from './lanes/lane-view.ts'

/** Sessions with the same offer, for lanes whose queue has this position in the offer. */
interface OfferGroup {
  readonly tier: number
  readonly view: LaneView
  readonly sessions: Iterable<Session>
}

/** How far the search for one lane has come. */
interface Search {
  readonly groups: readonly OfferGroup[]
  group: number
  rest: Iterator<Session> | null
  current: Session | null
}

/**
 * Finds a waiting session for runs that enter empty lanes: such a run is leased directly and never
 * queues. Sessions that prefer the lane's queue come first. Skip sessions
 * whose slots claims may still use (`isEngaged`). One search per lane and tick, continued where it
 * stopped.
 * Without a generator: on an idle node this code runs rarely and is never compiled. A generator
 * took 20 of the 50 µs for composing a tick; this takes 3 (decision 7).
 */
export function createWaitingSessionFinder(
  {
    sessionIndex,
    laneIndex,
    mono,
  }: { sessionIndex: SessionIndex; laneIndex: LaneIndex; mono: number },
  isEngaged: (session: Session, view: LaneView) => boolean,
) {
  const searches = new Map<LaneHint, Search>()

  const isPresent = (session: Session) => {
    if (isListening(session, mono)) return true
    // A session that stopped listening joins again with its next exchange.
    sessionIndex.stopWaiting(session)
    return false
  }

  const advance = (search: Search, hint: LaneHint): Session | null => {
    for (; search.group < search.groups.length; search.group += 1) {
      const { view, sessions } = search.groups[search.group] as OfferGroup
      const rest = (search.rest ??= sessions[Symbol.iterator]())
      for (let next = rest.next(); !next.done; next = rest.next()) {
        const session = next.value
        if (hasFreeSlots(session, hint) && !isEngaged(session, view) && isPresent(session)) {
          return session
        }
      }
      search.rest = null
    }
    return null
  }

  return function sessionFor(hint: LaneHint): Session | null {
    if (hint.mayHaveWork || hint.isPaused || hint.rate) return null
    let search = searches.get(hint)
    if (!search) {
      search = {
        groups: groupsFor(hint, sessionIndex, laneIndex),
        group: 0,
        rest: null,
        current: null,
      }
      searches.set(hint, search)
    }
    if (!search.current || !hasFreeSlots(search.current, hint))
      search.current = advance(search, hint)
    return search.current
  }
}

function groupsFor(hint: LaneHint, sessionIndex: SessionIndex, laneIndex: LaneIndex): OfferGroup[] {
  const groups: OfferGroup[] = []
  sessionIndex.offerGroups.forEach((sessions, offer) => {
    const view = laneIndex.viewOf(offer)
    const tier = view.tierOf(hint)
    if (tier >= 0) groups.push({ tier, view, sessions })
  })
  return groups.length > 1 ? groups.sort((a, b) => a.tier - b.tier) : groups
}

function hasFreeSlots(session: Session, { lane }: LaneHint): boolean {
  return session.credit - session.promised >= lane.weight
}
