import { isListening, type Session } from '../sessions/session.ts'
import type { Roster } from '../sessions/roster.ts'
import type { LaneBoard, LaneHint } from './lane-board.ts'
import type { LaneView } from './lane-view.ts'

/**
 * Finds, for runs entering empty lanes, a session that already waits: such a run goes straight to a
 * lease and never stands in line. Whoever prefers the lane's queue comes first. What room a session has
 * left was not needed by the lanes that have work, unless `isEngaged` says otherwise. One search per lane
 * and tick, continued where it stopped.
 */
export function createHandOff(
  { roster, board, mono }: { roster: Roster; board: LaneBoard; mono: number },
  isEngaged: (session: Session, view: LaneView) => boolean,
) {
  const searches = new Map<LaneHint, { rest: Iterator<Session>; current: Session | null }>()

  const isPresent = (session: Session) => {
    if (isListening(session, mono)) return true
    // Who stopped listening joins again with its next exchange.
    roster.dismiss(session)
    return false
  }

  function* candidates(hint: LaneHint): Generator<Session> {
    const crowds: { tier: number; view: LaneView; crowd: Iterable<Session> }[] = []
    for (const [offer, crowd] of roster.crowds) {
      const view = board.viewOf(offer)
      const tier = view.tierOf(hint)
      if (tier >= 0) crowds.push({ tier, view, crowd })
    }
    if (crowds.length > 1) crowds.sort((a, b) => a.tier - b.tier)
    for (const { crowd, view } of crowds) {
      for (const session of crowd) if (!isEngaged(session, view)) yield session
    }
  }

  const hasRoom = (session: Session, { lane }: LaneHint) =>
    session.credit - session.promised >= lane.weight

  return function sessionFor(hint: LaneHint): Session | null {
    if (hint.mayHaveWork || hint.isResting || hint.rate) return null
    let search = searches.get(hint)
    if (!search) {
      search = { rest: candidates(hint), current: null }
      searches.set(hint, search)
    }
    if (search.current && hasRoom(search.current, hint)) return search.current
    for (let next = search.rest.next(); !next.done; next = search.rest.next()) {
      if (!hasRoom(next.value, hint) || !isPresent(next.value)) continue
      search.current = next.value
      return next.value
    }
    search.current = null
    return null
  }
}
