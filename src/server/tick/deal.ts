import { holdsRoom } from './hold.ts'
import { isKnownToWait, type LaneHint } from './lane-board.ts'
import type { OpenProject, OpenTier } from './lane-view.ts'
import type { Turns } from './turns.ts'

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
export function deal(waiters: Iterable<Waiter>, dealing: Dealing): Deal[] {
  const seats = new Map<LaneHint, number[][]>()
  let rows = dealing.cap
  for (const { session, credit, tiers } of waiters) {
    if (rows <= 0) break
    const hand: Hand = { session, credit, rows, isKept: false, wasPassed: false }
    dealOne(hand, tiers, dealing, seats)
    rows = hand.rows
  }
  // Who prefers a queue comes before who only helps out there.
  return Array.from(seats, ([hint, byTier]) => ({ hint, sessions: byTier.flat() }))
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

type Seats = Map<LaneHint, number[][]>

function dealOne(hand: Hand, tiers: readonly OpenTier[], dealing: Dealing, seats: Seats): void {
  for (const { tier, projects } of tiers) {
    const { rows } = hand
    dealTier(hand, projects, dealing, (hint, count) => sit(seats, hint, tier, hand.session, count))
    // A later queue is served only while the ones before it are empty: what waits there and does not
    // fit yet would never fit if lighter work took every slot that comes free.
    if (hand.rows < rows || hand.isKept || hand.wasPassed) return
  }
}

function sit(seats: Seats, hint: LaneHint, tier: number, session: number, count: number): void {
  const byTier = seats.get(hint) ?? []
  seats.set(hint, byTier)
  const sessions = (byTier[tier] ??= [])
  for (let row = 0; row < count; row += 1) sessions.push(session)
}

type Give = (hint: LaneHint, rows: number) => void

function dealTier(
  hand: Hand,
  projects: readonly OpenProject[],
  dealing: Dealing,
  give: Give,
): void {
  const { turns } = dealing
  const inTurn =
    projects.length === 1
      ? projects
      : projects.toSorted((a, b) => turns.ofProject(a.project) - turns.ofProject(b.project))
  let others = projects.length
  for (const { lanes } of inTurn) {
    if (hand.credit <= 0 || hand.rows <= 0 || hand.isKept) return
    dealProject(hand, Math.ceil(hand.credit / others), lanes, dealing, give)
    others -= 1
  }
}

/** The most urgent lanes share what falls to the project; others only if none of those can use it. */
function dealProject(
  hand: Hand,
  share: number,
  lanes: readonly LaneHint[],
  dealing: Dealing,
  give: Give,
): void {
  const { rows } = hand
  for (let rank = nextRank(lanes, Number.NEGATIVE_INFINITY); rank !== null;) {
    dealEqual(hand, share, lanes, rank, dealing, give)
    if (hand.rows < rows || hand.isKept) return
    rank = nextRank(lanes, rank)
  }
}

function nextRank(lanes: readonly LaneHint[], above: number): number | null {
  let next: number | null = null
  for (const { headRank } of lanes) {
    if (headRank > above && (next === null || headRank < next)) next = headRank
  }
  return next
}

function dealEqual(
  hand: Hand,
  share: number,
  lanes: readonly LaneHint[],
  rank: number,
  dealing: Dealing,
  give: Give,
): void {
  const { turns } = dealing
  const equals = lanes.length === 1 ? lanes : lanes.filter(({ headRank }) => headRank === rank)
  const seen = new Set<LaneHint>()
  let left = share
  while (seen.size < equals.length && left > 0 && hand.credit > 0 && hand.rows > 0) {
    const hint = soonest(equals, seen, turns)
    const { weight } = hint.lane
    const fair = Math.ceil(left / (equals.length - seen.size))
    seen.add(hint)
    if (weight > hand.credit) {
      keepRoom(hand, hint, dealing)
      if (hand.isKept) return
      continue
    }
    const count = Math.min(hand.rows, Math.max(1, Math.floor(fair / weight)))
    give(hint, count)
    turns.charge(hint, count * weight)
    hand.rows -= count
    hand.credit -= count * weight
    left -= count * weight
  }
}

function soonest(lanes: readonly LaneHint[], seen: ReadonlySet<LaneHint>, turns: Turns): LaneHint {
  let best: LaneHint | undefined
  let turn = Number.POSITIVE_INFINITY
  for (const hint of lanes) {
    if (seen.has(hint)) continue
    const own = turns.ofLane(hint)
    if (own < turn) [best, turn] = [hint, own]
  }
  return best as LaneHint
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
