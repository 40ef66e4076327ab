import type { Random } from '../../core/clock.ts'
import { drawSalt, fenceOf } from '../../core/run/fence.ts'
import type { ClaimDemand, NewRun, TickBatch } from '../../store/port.ts'
import { isListening, type Session } from '../sessions/session.ts'
import type { SessionIndex } from '../sessions/session-index.ts'
import type { NodeSignals } from '../signals/signals.ts'
import { allocateSlots, type Allocation, type WaitingSession } from './allocate-slots.ts'
import { createWaitingSessionFinder } from './find-waiting-session.ts'
import type { SaturatedGates } from './saturated-gates.ts'
import { isBefore, type LaneHint } from './lanes/lane-hint.ts'
import type { LaneIndex } from './lanes/lane-index.ts'
import type { CancelEntry, EndEntry, SubmitEntry } from './pending.ts'
import type { FairTurns } from './fair-turns.ts'

/** A tick in progress: the batch for the store, and where its results go. */
export interface TickWork {
  readonly batch: TickBatch
  readonly submits: readonly SubmitEntry[]
  readonly ends: readonly EndEntry[]
  readonly cancels: readonly CancelEntry[]
  readonly claims: readonly LaneClaim[]
  /**
   * The session each submission was promised to, by index, if it is assigned directly. The session
   * itself and not its id: a worker that registers again while the tick runs is another session and
   * must not receive these grants.
   */
  readonly promises: readonly (Session | undefined)[]
}

export interface LaneClaim {
  readonly hint: LaneHint
  readonly sessions: readonly Session[]
  /** `hint.arrivals` when the claim was composed. */
  readonly arrivals: number
}

export interface ComposeContext {
  readonly node: number
  readonly sessionIndex: SessionIndex
  readonly laneIndex: LaneIndex
  readonly random: Random
  readonly turns: FairTurns
  readonly saturatedGates: SaturatedGates
  readonly cap: number
  readonly mono: number
  /** False if leases could not be renewed: then the tick claims nothing. */
  readonly mayGrant: boolean
  readonly signals: Pick<NodeSignals, 'lanesUnsure'>
}

/**
 * Claims first, from lanes with possibly waiting runs; the remaining free slots take new runs
 * directly.
 */
export function composeTick(
  entries: Pick<TickWork, 'submits' | 'ends' | 'cancels'>,
  context: ComposeContext,
): TickWork | null {
  const { claims, allocation } = context.mayGrant
    ? composeClaims(entries.submits, context)
    : NOTHING
  const promises = context.mayGrant ? assignDirectly(entries.submits, allocation, context) : []
  const { submits, ends, cancels } = entries
  if (submits.length + ends.length + cancels.length + claims.length === 0) return null
  const batch: TickBatch = {
    node: context.node,
    submits: submits.map((entry) => entry.item),
    ends: ends.map((entry) => entry.item),
    cancels: cancels.map((entry) => entry.item),
    claims: claims.map((claim) => demandOf(claim, context.random)),
  }
  return { batch, submits, ends, cancels, claims, promises }
}

const NO_ALLOCATION: Allocation = { allocations: [], engaged: new Set(), isCapped: false }
const NOTHING: { claims: LaneClaim[]; allocation: Allocation } = {
  claims: [],
  allocation: NO_ALLOCATION,
}

function composeClaims(
  submits: readonly SubmitEntry[],
  context: ComposeContext,
): { claims: LaneClaim[]; allocation: Allocation } {
  const { sessionIndex, turns, cap, mono } = context
  if (sessionIndex.offerGroups.size === 0) return NOTHING
  const onUnsure = (hint: LaneHint) => {
    if (hint.isRefreshPending) return
    hint.isRefreshPending = true
    context.signals.lanesUnsure()
  }
  const arriving = countArriving(submits, context)
  const allocation = allocateSlots(waitersIn(context), { cap, turns, mono, onUnsure })
  for (const hint of arriving) hint.incoming = 0
  const claims = allocation.allocations.map(({ hint, sessions: ids }) => {
    const sessions = ids.map((id) => sessionIndex.sessions.get(id) as Session)
    for (const session of sessions) session.promised += hint.lane.weight
    for (const session of new Set(sessions)) sessionIndex.requeue(session)
    return { hint, sessions, arrivals: hint.arrivals }
  })
  return { claims, allocation }
}

/**
 * Runs that will wait in a lane after this tick, together with others: the tick can claim them as
 * well.
 */
function countArriving(submits: readonly SubmitEntry[], context: ComposeContext): Set<LaneHint> {
  const arriving = new Set<LaneHint>()
  for (const { item } of submits) {
    const hint = context.laneIndex.get(item.laneId)
    if (!hint?.mayHaveWork || !mayGoAtOnce(item, context)) continue
    // A run more urgent than the last claimed one must not be stepped over.
    if (isBefore({ rank: item.rank, pos: item.id }, hint.floor)) hint.floor = null
    hint.incoming += 1
    arriving.add(hint)
  }
  return arriving
}

function mayGoAtOnce(
  { dueAt, gates, after }: NewRun,
  { saturatedGates, mono }: ComposeContext,
): boolean {
  const isDue = dueAt === null && after === undefined
  return isDue && (gates.length === 0 || saturatedGates.isFree(gates, mono))
}

/**
 * Visits only groups that could be given something: most workers wait while there is nothing to do.
 */
function* waitersIn({ sessionIndex, laneIndex, mono }: ComposeContext): Generator<WaitingSession> {
  for (const [offer, group] of sessionIndex.offerGroups) {
    const tiers = laneIndex.viewOf(offer).open()
    if (tiers.length === 0) continue
    for (const session of group) {
      // A session that stopped listening joins again with its next exchange.
      if (!isListening(session, mono)) sessionIndex.stopWaiting(session)
      else yield { session: session.id, freeSlots: session.credit - session.promised, tiers }
    }
  }
}

function demandOf(claim: LaneClaim, random: Random): ClaimDemand {
  return {
    laneId: claim.hint.lane.id,
    sessions: claim.sessions.map((session) => session.id),
    salts: claim.sessions.map(() => drawSalt(random)),
    floor: claim.hint.floor,
    ...(claim.hint.rate ? { rate: claim.hint.rate } : {}),
  }
}

function assignDirectly(
  submits: readonly SubmitEntry[],
  { engaged, isCapped }: Allocation,
  context: ComposeContext,
): (Session | undefined)[] {
  const { sessionIndex, laneIndex, random, mono } = context
  if (sessionIndex.offerGroups.size === 0) return []
  const sessionFor = createWaitingSessionFinder(
    { sessionIndex, laneIndex, mono },
    ({ id }, view) => engaged.has(id) || (isCapped && view.open().length > 0),
  )
  const promises = submits.map((entry) => {
    const run = entry.item
    if (entry.tried || !mayGoAtOnce(run, context)) return undefined
    const hint = laneIndex.get(run.laneId)
    const session = hint && sessionFor(hint)
    if (!session) return undefined
    session.promised += hint.lane.weight
    const fence = fenceOf(1, drawSalt(random))
    run.reservation = { session: session.id, fence }
    return session
  })
  // Moved to the end, so that runs arriving one by one go round the sessions.
  for (const session of new Set(promises)) if (session) sessionIndex.requeue(session)
  return promises
}
