import type { Random } from '../../core/clock.ts'
import { drawSalt, fenceOf } from '../../core/run/fence.ts'
import type { ClaimDemand, NewRun, TickBatch } from '../../store/port.ts'
import { isListening, type Session } from '../sessions/session.ts'
import type { Roster } from '../sessions/session-index.ts'
import { deal, type Dealt, type Waiter } from './allocate-slots.ts'
import { createHandOff } from './find-waiting-session.ts'
import type { Jams } from './saturated-gates.ts'
import { isBefore, type LaneBoard, type LaneHint } from './lane-index.ts'
import type { CancelEntry, EndEntry, SubmitEntry } from './pending.ts'
import type { Turns } from './fair-turns.ts'

/** A tick on its way: the batch for the store, and whom its results belong to. */
export interface Work {
  readonly batch: TickBatch
  readonly submits: readonly SubmitEntry[]
  readonly ends: readonly EndEntry[]
  readonly cancels: readonly CancelEntry[]
  readonly claims: readonly Claim[]
  /**
   * Who each submission was promised to, by index, if it is handed over directly. The session itself,
   * not its id: a worker that registers again while the tick runs is another session and must not
   * receive this one's grants.
   */
  readonly promises: readonly (Session | undefined)[]
}

export interface Claim {
  readonly hint: LaneHint
  readonly sessions: readonly Session[]
  /** `hint.arrivals` when the claim was composed. */
  readonly arrivals: number
}

export interface Composing {
  readonly node: number
  readonly roster: Roster
  readonly board: LaneBoard
  readonly random: Random
  readonly turns: Turns
  readonly jams: Jams
  readonly cap: number
  readonly mono: number
  /** False while the node may not promise anything to workers: then nothing is claimed. */
  readonly mayGrant: boolean
  /** It should be found out which lanes have work, before long. */
  onUnsure(): void
}

/** Claims first, from lanes that may have a line; what room is left takes new runs directly. */
export function compose(
  entries: Pick<Work, 'submits' | 'ends' | 'cancels'>,
  context: Composing,
): Work | null {
  const { claims, dealt } = context.mayGrant ? dealClaims(entries.submits, context) : NOTHING
  const promises = context.mayGrant ? handOff(entries.submits, dealt, context) : []
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

const NO_DEAL: Dealt = { deals: [], engaged: new Set(), isCapped: false }
const NOTHING: { claims: Claim[]; dealt: Dealt } = { claims: [], dealt: NO_DEAL }

function dealClaims(
  submits: readonly SubmitEntry[],
  context: Composing,
): { claims: Claim[]; dealt: Dealt } {
  const { roster, turns, cap, mono } = context
  if (roster.crowds.size === 0) return NOTHING
  const onUnsure = (hint: LaneHint) => {
    if (hint.isAskedFor) return
    hint.isAskedFor = true
    context.onUnsure()
  }
  const arriving = countArriving(submits, context)
  const dealt = deal(waitersIn(context), { cap, turns, mono, onUnsure })
  for (const hint of arriving) hint.incoming = 0
  const claims = dealt.deals.map(({ hint, sessions: ids }) => {
    const sessions = ids.map((id) => roster.sessions.get(id) as Session)
    for (const session of sessions) session.promised += hint.lane.weight
    for (const session of new Set(sessions)) roster.requeue(session)
    return { hint, sessions, arrivals: hint.arrivals }
  })
  return { claims, dealt }
}

/** Runs that will stand in line by this tick, where there is a line: it can claim them as well. */
function countArriving(submits: readonly SubmitEntry[], context: Composing): Set<LaneHint> {
  const arriving = new Set<LaneHint>()
  for (const { item } of submits) {
    const hint = context.board.get(item.laneId)
    if (!hint?.mayHaveWork || !mayGoAtOnce(item, context)) continue
    // One that is more urgent than what was claimed last must not be stepped over.
    if (isBefore({ rank: item.rank, pos: item.id }, hint.floor)) hint.floor = null
    hint.incoming += 1
    arriving.add(hint)
  }
  return arriving
}

function mayGoAtOnce({ dueAt, gates, after }: NewRun, { jams, mono }: Composing): boolean {
  const isDue = dueAt === null && after === undefined
  return isDue && (gates.length === 0 || jams.isFree(gates, mono))
}

/** Only crowds that could be given something are looked at: most workers wait while nothing does. */
function* waitersIn({ roster, board, mono }: Composing): Generator<Waiter> {
  for (const [offer, crowd] of roster.crowds) {
    const tiers = board.viewOf(offer).open()
    if (tiers.length === 0) continue
    for (const session of crowd) {
      // Who stopped listening joins again with its next exchange.
      if (!isListening(session, mono)) roster.dismiss(session)
      else yield { session: session.id, credit: session.credit - session.promised, tiers }
    }
  }
}

function demandOf(claim: Claim, random: Random): ClaimDemand {
  return {
    laneId: claim.hint.lane.id,
    sessions: claim.sessions.map((session) => session.id),
    salts: claim.sessions.map(() => drawSalt(random)),
    floor: claim.hint.floor,
    ...(claim.hint.rate ? { rate: claim.hint.rate } : {}),
  }
}

function handOff(
  submits: readonly SubmitEntry[],
  { engaged, isCapped }: Dealt,
  context: Composing,
): (Session | undefined)[] {
  const { roster, board, random, mono } = context
  if (roster.crowds.size === 0) return []
  const sessionFor = createHandOff(
    { roster, board, mono },
    ({ id }, view) => engaged.has(id) || (isCapped && view.open().length > 0),
  )
  const promises = submits.map((entry) => {
    const run = entry.item
    if (entry.tried || !mayGoAtOnce(run, context)) return undefined
    const hint = board.get(run.laneId)
    const session = hint && sessionFor(hint)
    if (!session) return undefined
    session.promised += hint.lane.weight
    const fence = fenceOf(1, drawSalt(random))
    run.handOff = { session: session.id, fence }
    return session
  })
  // To the end of the line, so that runs that come one by one go round.
  for (const session of new Set(promises)) if (session) roster.requeue(session)
  return promises
}
