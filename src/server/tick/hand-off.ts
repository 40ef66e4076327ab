import type { Session } from '../sessions/session.ts'
import type { Roster } from '../sessions/roster.ts'
import type { LaneBoard, LaneHint } from './lane-board.ts'

/**
 * Finds, for runs entering empty lanes, a session that already waits: such a run goes straight to a
 * lease and never stands in line. One search per lane and tick, continued where it stopped.
 */
export function createHandOff(roster: Roster, board: LaneBoard) {
  const searches = new Map<LaneHint, { rest: Iterator<Session>; current: Session | null }>()

  const serves = (session: Session, hint: LaneHint) =>
    session.credit - session.promised >= hint.lane.weight &&
    board.tiersFor(session.offer).some((tier) => tier.includes(hint))

  return function sessionFor(hint: LaneHint): Session | null {
    if (hint.mayHaveWork) return null
    let search = searches.get(hint)
    if (!search) {
      search = { rest: [...roster.waiting].values(), current: null }
      searches.set(hint, search)
    }
    if (search.current && serves(search.current, hint)) return search.current
    for (let next = search.rest.next(); !next.done; next = search.rest.next()) {
      if (!serves(next.value, hint)) continue
      search.current = next.value
      return next.value
    }
    search.current = null
    return null
  }
}
