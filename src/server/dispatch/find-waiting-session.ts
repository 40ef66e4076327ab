import { isListening, type Session } from '../sessions/session.ts'
import type { Roster } from '../sessions/session-index.ts'
import type { LaneBoard, LaneHint } from './lane-index.ts'
import type { LaneView } from './lane-view.ts'

/** Sessions that offer the same, for lanes whose queue has this place in their offer. */
interface Crowd {
  readonly tier: number
  readonly view: LaneView
  readonly sessions: Iterable<Session>
}

/** How far one lane's search has come. */
interface Search {
  readonly crowds: readonly Crowd[]
  crowd: number
  rest: Iterator<Session> | null
  current: Session | null
}

/**
 * Finds, for runs entering empty lanes, a session that already waits: such a run goes straight to a
 * lease and never stands in line. Whoever prefers the lane's queue comes first. What room a session has
 * left was not needed by the lanes that have work, unless `isEngaged` says otherwise. One search per lane
 * and tick, continued where it stopped.
 *
 * Without a generator: on an idle node this runs now and then and is never compiled, and a generator
 * took 20 of the 50 µs in which a tick was composed; this takes 3 (decision 7).
 */
export function createHandOff(
  { roster, board, mono }: { roster: Roster; board: LaneBoard; mono: number },
  isEngaged: (session: Session, view: LaneView) => boolean,
) {
  const searches = new Map<LaneHint, Search>()

  const isPresent = (session: Session) => {
    if (isListening(session, mono)) return true
    // Who stopped listening joins again with its next exchange.
    roster.dismiss(session)
    return false
  }

  const advance = (search: Search, hint: LaneHint): Session | null => {
    for (; search.crowd < search.crowds.length; search.crowd += 1) {
      const { view, sessions } = search.crowds[search.crowd] as Crowd
      const rest = (search.rest ??= sessions[Symbol.iterator]())
      for (let next = rest.next(); !next.done; next = rest.next()) {
        const session = next.value
        if (hasRoom(session, hint) && !isEngaged(session, view) && isPresent(session)) {
          return session
        }
      }
      search.rest = null
    }
    return null
  }

  return function sessionFor(hint: LaneHint): Session | null {
    if (hint.mayHaveWork || hint.isResting || hint.rate) return null
    let search = searches.get(hint)
    if (!search) {
      search = { crowds: crowdsFor(hint, roster, board), crowd: 0, rest: null, current: null }
      searches.set(hint, search)
    }
    if (!search.current || !hasRoom(search.current, hint)) search.current = advance(search, hint)
    return search.current
  }
}

function crowdsFor(hint: LaneHint, roster: Roster, board: LaneBoard): Crowd[] {
  const crowds: Crowd[] = []
  roster.crowds.forEach((sessions, offer) => {
    const view = board.viewOf(offer)
    const tier = view.tierOf(hint)
    if (tier >= 0) crowds.push({ tier, view, sessions })
  })
  return crowds.length > 1 ? crowds.sort((a, b) => a.tier - b.tier) : crowds
}

function hasRoom(session: Session, { lane }: LaneHint): boolean {
  return session.credit - session.promised >= lane.weight
}
