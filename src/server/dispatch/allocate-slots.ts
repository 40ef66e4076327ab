import { holdsRoom } from './slot-reservation.ts'
import { isKnownToWait, type LaneHint, wantedFrom } from './lane-index.ts'
import type { OpenProject, OpenTier } from './lane-view.ts'
import type { Turns } from './fair-turns.ts'

/** A session that has room for work. */
export interface Waiter {
  readonly session: number
  /** Free slots not yet promised to a claim under way. */
  readonly credit: number
  /** The open lanes it can serve, in the order of its queues. */
  readonly tiers: readonly OpenTier[]
}

export interface Deal {
  readonly hint: LaneHint
  /** The session of the first row, the second, … */
  readonly sessions: readonly number[]
}

export interface Dealt {
  readonly deals: readonly Deal[]
  /** Whose room is spoken for although it was not all dealt: nothing else may be given to them now. */
  readonly engaged: ReadonlySet<number>
  /** No more rows could be asked for: others may not have been looked at. */
  readonly isCapped: boolean
}

export interface Dealing {
  /** How many rows may be asked for. */
  readonly cap: number
  readonly turns: Turns
  readonly mono: number
  /** A run may or may not wait here for more room than there is: somebody should look. */
  onUnsure(hint: LaneHint): void
}

/**
 * Deals the waiters' room over the lanes that may have work: earlier queues of a worker first, then
 * the project that was served least, then the most urgent head, then the lane that was served least.
 */
export function deal(waiters: Iterable<Waiter>, dealing: Dealing): Dealt {
  const seats: Seats = new Map()
  const engaged = new Set<number>()
  let rows = dealing.cap
  for (const { session, credit, tiers } of waiters) {
    if (rows <= 0) break
    const hand: Hand = { session, credit, rows, isKept: false, wasPassed: false }
    dealOne(hand, tiers, dealing, seats)
    if (hand.isKept || hand.wasPassed) engaged.add(session)
    rows = hand.rows
  }
  // Who prefers a queue comes before who only helps out there.
  const deals = Array.from(seats, ([hint, byTier]) => ({ hint, sessions: byTier.flat() }))
  return { deals, engaged, isCapped: rows <= 0 }
}

/** What one session still has to give in this deal. */
interface Hand {
  readonly session: number
  credit: number
  rows: number
  /** The rest of its room is kept for a heavy run whose turn it is. */
  isKept: boolean
  /** A run of this tier may wait for more room than there is: nothing is taken from a later one. */
  wasPassed: boolean
}

/** For every lane and tier, the sessions that are given its rows. */
type Seats = Map<LaneHint, number[][]>

function dealOne(hand: Hand, tiers: readonly OpenTier[], dealing: Dealing, seats: Seats): void {
  for (const { tier, projects } of tiers) {
    dealTier(hand, tier, projects, dealing, seats)
    // A later queue is served only while the ones before it are empty, or asked for all they have:
    // what does not fit yet would never fit if lighter work took every slot that comes free.
    if (hand.credit <= 0 || hand.rows <= 0 || hand.isKept || hand.wasPassed) return
  }
}

/** Round and round, until all lanes were asked for what they have or there is no room for more. */
function dealTier(
  hand: Hand,
  tier: number,
  projects: readonly OpenProject[],
  dealing: Dealing,
  seats: Seats,
): void {
  const { turns } = dealing
  const asked = new Map<LaneHint, number>()
  for (let before = -1; before !== hand.credit;) {
    before = hand.credit
    const byTurn =
      projects.length === 1
        ? projects
        : projects.toSorted((a, b) => turns.ofProject(a.project) - turns.ofProject(b.project))
    let others = projects.length
    for (const { lanes } of byTurn) {
      if (hand.credit <= 0 || hand.rows <= 0 || hand.isKept) return
      const share = Math.ceil(hand.credit / others)
      for (const { hint, rows } of dealProject(hand, share, lanes, asked, dealing)) {
        asked.set(hint, (asked.get(hint) ?? 0) + rows)
        sit(seats, hint, tier, hand.session, rows)
      }
      others -= 1
    }
  }
}

function sit(seats: Seats, hint: LaneHint, tier: number, session: number, rows: number): void {
  const byTier = seats.get(hint) ?? []
  seats.set(hint, byTier)
  const sessions = (byTier[tier] ??= [])
  for (let row = 0; row < rows; row += 1) sessions.push(session)
}

interface Portion {
  readonly hint: LaneHint
  readonly rows: number
}

/** The most urgent lanes share what falls to the project; others only what those cannot use. */
function dealProject(
  hand: Hand,
  share: number,
  lanes: readonly LaneHint[],
  asked: ReadonlyMap<LaneHint, number>,
  dealing: Dealing,
): Portion[] {
  const portions: Portion[] = []
  let left = share
  for (let rank = nextRank(lanes, Number.NEGATIVE_INFINITY); rank !== null;) {
    const equals = lanes.filter(
      (hint) => hint.headRank === rank && wantedFrom(hint) > (asked.get(hint) ?? 0),
    )
    left = dealEqual(hand, left, equals, asked, dealing, portions)
    if (left <= 0 || hand.credit <= 0 || hand.rows <= 0 || hand.isKept) return portions
    rank = nextRank(lanes, rank)
  }
  return portions
}

function nextRank(lanes: readonly LaneHint[], above: number): number | null {
  let next: number | null = null
  for (const { headRank } of lanes) {
    if (headRank > above && (next === null || headRank < next)) next = headRank
  }
  return next
}

/** Lanes of one rank, in turn. Returns what is left of the share. */
function dealEqual(
  hand: Hand,
  share: number,
  equals: readonly LaneHint[],
  asked: ReadonlyMap<LaneHint, number>,
  dealing: Dealing,
  portions: Portion[],
): number {
  const { turns } = dealing
  let others = equals.length
  let left = share
  for (const hint of inTurn(equals, turns)) {
    if (left <= 0 || hand.credit <= 0 || hand.rows <= 0) return left
    const { weight } = hint.lane
    const fair = Math.ceil(left / others)
    others -= 1
    if (weight > hand.credit) {
      keepRoom(hand, hint, dealing)
      if (hand.isKept) return left
      continue
    }
    const most = Math.min(hand.rows, wantedFrom(hint) - (asked.get(hint) ?? 0))
    const rows = Math.min(most, Math.max(1, Math.floor(fair / weight)))
    portions.push({ hint, rows })
    turns.charge(hint, rows * weight)
    hand.rows -= rows
    hand.credit -= rows * weight
    left -= rows * weight
  }
  return left
}

/** Who was served least comes first. Being served only ever moves a lane back, so once is enough. */
function inTurn(lanes: readonly LaneHint[], turns: Turns): readonly LaneHint[] {
  return lanes.length < 2 ? lanes : lanes.toSorted((a, b) => turns.ofLane(a) - turns.ofLane(b))
}

/**
 * A run that does not fit yet. Only what surely waits is worth keeping room for; while somebody looks
 * whether it does, which takes a moment, only later queues have to wait.
 */
function keepRoom(hand: Hand, hint: LaneHint, { mono, onUnsure }: Dealing): void {
  const isKnown = isKnownToWait(hint)
  if (!isKnown) onUnsure(hint)
  if (isKnown && holdsRoom(hint, hand.session, mono)) hand.isKept = true
  else hand.wasPassed = true
}
