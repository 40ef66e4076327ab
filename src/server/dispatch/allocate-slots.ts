import { reservesSlots } from './lanes/slot-reservation.ts'
import { isKnownToWait, type LaneHint, rowsWanted } from './lanes/lane-hint.ts'
import type { OpenProject, OpenTier } from './lanes/lane-view.ts'
import type { FairTurns } from './fair-turns.ts'

/** A session with free slots. */
export interface WaitingSession {
  readonly session: number
  /** Free slots that are not promised to a claim in progress. */
  readonly freeSlots: number
  /** The open lanes it can serve, in the order of its queues. */
  readonly tiers: readonly OpenTier[]
}

export interface LaneAllocation {
  readonly hint: LaneHint
  /** The session of the first row, the second, … */
  readonly sessions: readonly number[]
}

export interface Allocation {
  readonly allocations: readonly LaneAllocation[]
  /**
   * Sessions whose free slots are all spoken for, although not all were allocated: they get nothing
   * else now.
   */
  readonly engaged: ReadonlySet<number>
  /** The row limit was reached, so some sessions may not have been considered. */
  readonly isCapped: boolean
}

export interface AllocationContext {
  /** Maximum number of rows to request. */
  readonly cap: number
  readonly turns: FairTurns
  readonly mono: number
  /** It is unknown whether a run that needs more slots waits here; the lane should be read. */
  onUnsure(hint: LaneHint): void
}

/**
 * Allocates free slots to the lanes that may have work: earlier queues of a worker first, then the
 * project served least, then the most urgent head, then the lane served least.
 */
export function allocateSlots(
  waiters: Iterable<WaitingSession>,
  context: AllocationContext,
): Allocation {
  const rowsByLane: RowsByLane = new Map()
  const engaged = new Set<number>()
  let rows = context.cap
  for (const { session, freeSlots: credit, tiers } of waiters) {
    if (rows <= 0) break
    const allotment: SessionAllotment = { session, credit, rows, isKept: false, wasPassed: false }
    allocateOne(allotment, tiers, context, rowsByLane)
    if (allotment.isKept || allotment.wasPassed) engaged.add(session)
    rows = allotment.rows
  }
  // A session that prefers a queue comes before one that lists it later.
  const allocations = Array.from(rowsByLane, ([hint, byTier]) => ({
    hint,
    sessions: byTier.flat(),
  }))
  return { allocations, engaged: engaged, isCapped: rows <= 0 }
}

/** What one session can still give in this allocation. */
interface SessionAllotment {
  readonly session: number
  credit: number
  rows: number
  /** Its remaining slots are reserved for a heavy run whose turn it is. */
  isKept: boolean
  /** A run of this tier may wait for more slots than are free: no later tier gets any. */
  wasPassed: boolean
}

/** For every lane and tier, the sessions that serve its rows. */
type RowsByLane = Map<LaneHint, number[][]>

function allocateOne(
  allotment: SessionAllotment,
  tiers: readonly OpenTier[],
  context: AllocationContext,
  rowsByLane: RowsByLane,
): void {
  for (const { tier, projects } of tiers) {
    allocateTier(allotment, tier, projects, context, rowsByLane)
    // A later queue is served only while the earlier ones are empty or asked for all they have:
    // otherwise a heavy run would never fit, because lighter work takes every slot that becomes
    // free.
    if (allotment.credit <= 0 || allotment.rows <= 0 || allotment.isKept || allotment.wasPassed)
      return
  }
}

/** Goes round the lanes until all were asked for what they have or no slots are left. */
function allocateTier(
  allotment: SessionAllotment,
  tier: number,
  projects: readonly OpenProject[],
  context: AllocationContext,
  rowsByLane: RowsByLane,
): void {
  const { turns } = context
  const asked = new Map<LaneHint, number>()
  for (let before = -1; before !== allotment.credit;) {
    before = allotment.credit
    const byTurn =
      projects.length === 1
        ? projects
        : projects.toSorted((a, b) => turns.ofProject(a.project) - turns.ofProject(b.project))
    let others = projects.length
    for (const { lanes } of byTurn) {
      if (allotment.credit <= 0 || allotment.rows <= 0 || allotment.isKept) return
      const share = Math.ceil(allotment.credit / others)
      for (const { hint, rows } of allocateProject(allotment, share, lanes, asked, context)) {
        asked.set(hint, (asked.get(hint) ?? 0) + rows)
        addRows(rowsByLane, hint, tier, allotment.session, rows)
      }
      others -= 1
    }
  }
}

function addRows(
  rowsByLane: RowsByLane,
  hint: LaneHint,
  tier: number,
  session: number,
  rows: number,
): void {
  const byTier = rowsByLane.get(hint) ?? []
  rowsByLane.set(hint, byTier)
  const sessions = (byTier[tier] ??= [])
  for (let row = 0; row < rows; row += 1) sessions.push(session)
}

interface Portion {
  readonly hint: LaneHint
  readonly rows: number
}

/** The most urgent lanes share the project's part; other lanes get only what those cannot use. */
function allocateProject(
  allotment: SessionAllotment,
  share: number,
  lanes: readonly LaneHint[],
  asked: ReadonlyMap<LaneHint, number>,
  context: AllocationContext,
): Portion[] {
  const portions: Portion[] = []
  let left = share
  for (let rank = nextRank(lanes, Number.NEGATIVE_INFINITY); rank !== null;) {
    const equals = lanes.filter(
      (hint) => hint.headRank === rank && rowsWanted(hint) > (asked.get(hint) ?? 0),
    )
    left = allocateEqualRank(allotment, left, equals, asked, context, portions)
    if (left <= 0 || allotment.credit <= 0 || allotment.rows <= 0 || allotment.isKept)
      return portions
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
function allocateEqualRank(
  allotment: SessionAllotment,
  share: number,
  equals: readonly LaneHint[],
  asked: ReadonlyMap<LaneHint, number>,
  context: AllocationContext,
  portions: Portion[],
): number {
  const { turns } = context
  let others = equals.length
  let left = share
  for (const hint of inTurn(equals, turns)) {
    if (left <= 0 || allotment.credit <= 0 || allotment.rows <= 0) return left
    const { weight } = hint.lane
    const fair = Math.ceil(left / others)
    others -= 1
    if (weight > allotment.credit) {
      reserveSlots(allotment, hint, context)
      if (allotment.isKept) return left
      continue
    }
    const most = Math.min(allotment.rows, rowsWanted(hint) - (asked.get(hint) ?? 0))
    const rows = Math.min(most, Math.max(1, Math.floor(fair / weight)))
    portions.push({ hint, rows })
    turns.charge(hint, rows * weight)
    allotment.rows -= rows
    allotment.credit -= rows * weight
    left -= rows * weight
  }
  return left
}

/**
 * The lane served least comes first. Being served only moves a lane back, so one sort is enough.
 */
function inTurn(lanes: readonly LaneHint[], turns: FairTurns): readonly LaneHint[] {
  return lanes.length < 2 ? lanes : lanes.toSorted((a, b) => turns.ofLane(a) - turns.ofLane(b))
}

/**
 * Handles a run that does not fit. Slots are reserved only for a run that is known to wait; while
 * the lane is being read, only later queues have to wait.
 */
function reserveSlots(
  allotment: SessionAllotment,
  hint: LaneHint,
  { mono, onUnsure }: AllocationContext,
): void {
  const isKnown = isKnownToWait(hint)
  if (!isKnown) onUnsure(hint)
  if (isKnown && reservesSlots(hint, allotment.session, mono)) allotment.isKept = true
  else allotment.wasPassed = true
}
