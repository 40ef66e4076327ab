import type { LaneHint } from './lane-board.ts'

/** A session that has room for work. */
export interface Waiter {
  readonly session: number
  /** Free slots not yet promised to a claim under way. */
  readonly credit: number
  readonly tiers: readonly (readonly LaneHint[])[]
}

export interface Deal {
  readonly hint: LaneHint
  /** The session of the first row, the second, … */
  readonly sessions: number[]
}

/**
 * Turns, after start-time fair queueing: a project's turn grows with what it is served, the lowest
 * turn is next, and `now` (the turn served last) is where a project that was away starts again:
 * absence neither earns arrears nor costs a place.
 */
export interface Turns {
  readonly byProject: Map<string, number>
  now: number
}

export function createTurns(): Turns {
  return { byProject: new Map(), now: 0 }
}

/**
 * Deals the waiters' room over the lanes that may have work: earlier queues of a worker first, then
 * the project that was served least, then the lane with the most urgent head. Pure but for the turns.
 */
export function deal(waiters: readonly Waiter[], cap: number, turns: Turns): Deal[] {
  const deals = new Map<LaneHint, Deal>()
  let left = cap
  for (const waiter of waiters) {
    if (left <= 0) break
    left -= dealOne(waiter, left, turns, deals)
  }
  return [...deals.values()]
}

function dealOne(waiter: Waiter, cap: number, turns: Turns, deals: Map<LaneHint, Deal>): number {
  let credit = waiter.credit
  let dealt = 0
  for (const tier of waiter.tiers) {
    let open = tier.filter((hint) => hint.mayHaveWork && hint.lane.weight <= credit)
    if (open.length === 0) continue
    // A lower queue is served only while the ones before it are empty, so this tier is the last.
    while (open.length > 0 && dealt < cap) {
      const hint = choose(open, turns)
      const { project, weight } = hint.lane
      const share = Math.ceil(credit / new Set(open.map((other) => other.lane.project)).size)
      const rows = Math.min(cap - dealt, Math.max(1, Math.floor(share / weight)))
      const entry = deals.get(hint) ?? { hint, sessions: [] }
      deals.set(hint, entry)
      for (let i = 0; i < rows; i += 1) entry.sessions.push(waiter.session)
      turns.now = turnOf(project, turns)
      turns.byProject.set(project, turns.now + rows * weight)
      credit -= rows * weight
      dealt += rows
      open = open.filter((other) => other !== hint && other.lane.weight <= credit)
    }
    break
  }
  return dealt
}

function choose(open: readonly LaneHint[], turns: Turns): LaneHint {
  return open.reduce((best, hint) => (isSooner(hint, best, turns) ? hint : best))
}

function isSooner(a: LaneHint, b: LaneHint, turns: Turns): boolean {
  const lead = turnOf(a.lane.project, turns) - turnOf(b.lane.project, turns)
  return lead === 0 ? a.headRank < b.headRank : lead < 0
}

function turnOf(project: string, turns: Turns): number {
  return Math.max(turns.byProject.get(project) ?? 0, turns.now)
}
