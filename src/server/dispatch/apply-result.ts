import { PunctualError } from '../../core/errors.ts'
import { publicId } from '../../core/ids.ts'
import type { EndCommand, LanePlace, Lease, TickResult } from '../../store/port.ts'
import type { Roster } from '../sessions/session-index.ts'
import type { HeldLease, Session } from '../sessions/session.ts'
import { isBefore, type LaneBoard } from './lane-index.ts'
import type { Work } from './compose-tick.ts'
import { grant, type Granting, handedOff, release, settle } from './grants.ts'
import type { Jams } from './saturated-gates.ts'
import { answer, type EndEntry, type SubmitEntry } from './pending.ts'
import type { Turns } from './fair-turns.ts'

export interface Applying extends Granting {
  readonly board: LaneBoard
  readonly turns: Turns
  readonly jams: Jams
  /** An id that another node's run already has: give the run a new one and try again. */
  remint(entry: SubmitEntry): void
  onTimer(dueAt: number): void
  /** What was known to wait may be gone, or more may wait than is known. */
  onUnsure(): void
  /** A queue has used up its rate until then. */
  onLimited(until: number): void
  /** An attempt this node has granted is over. */
  onEnd(lease: Lease, command: EndCommand, now: number): void
}

const NO_LANE = 0

/** Takes the results of a tick that is durable now: answers callers, hands over grants, updates hints. */
export function apply(work: Work, result: TickResult, context: Applying): void {
  const touched = new Set<Session>()
  // Whatever enters lanes by this very tick was there when its claims looked …
  const limited = new Set(result.limited.map(({ laneId }) => laneId))
  const isAlone = work.claims.map(
    ({ hint, arrivals }) => hint.arrivals === arrivals && !limited.has(hint.lane.id),
  )
  applySubmits(work, result, context, touched)
  for (let index = 0; index < work.ends.length; index += 1) {
    const entry = work.ends[index] as EndEntry
    const lease = dropEnded(entry.item, context.roster)
    const verdict = result.ends[index] ?? 'stale'
    if (lease && verdict === 'ended') context.onEnd(lease, entry.item, result.now)
    answer(entry, verdict)
  }
  for (const [index, entry] of work.cancels.entries()) {
    const verdict = result.cancels[index] ?? { kind: 'unknown' }
    const held = verdict.kind === 'marked' ? context.roster.leaseOf(entry.item.runId) : undefined
    if (held) held.cancelling = true
    answer(entry, verdict)
  }
  // What a repeat finds done has entered lanes by a commit that nobody heard of.
  if (isRepeat(work)) context.onUnsure()
  // Room may have been kept for one of them.
  const wasCancelled = result.cancels.some(({ kind }) => kind === 'cancelled')
  if (wasCancelled && context.board.isRoomKept(NO_LANE)) context.onUnsure()
  for (const laneId of result.refilled) context.board.entered(laneId, null)
  // … unless it entered before the floor, where a claim that has one does not look.
  const isProof = work.claims.map(
    ({ hint }, index) =>
      isAlone[index] === true && (hint.floor !== null || work.batch.claims[index]?.floor === null),
  )
  applyClaims(work, result, isProof, context, touched)
  for (const { laneId, until } of result.limited) {
    context.board.nap(laneId, context.mono + until - result.now)
    context.onLimited(until)
  }
  if (result.nextDueAt !== null) context.onTimer(result.nextDueAt)
  settle(touched, context.roster)
}

function isRepeat({ submits, ends, cancels }: Work): boolean {
  return [submits, ends, cancels].some((entries) => entries.some(({ tried }) => tried))
}

/** Whoever ends what another node had does not end what has come over from there meanwhile. */
function dropEnded({ runId, fence, owner }: EndCommand, roster: Roster): HeldLease | undefined {
  if (owner !== null && roster.leaseOf(runId)?.node !== owner) return undefined
  return roster.drop(runId, fence)
}

/** Undoes the promises of a tick that did not happen. */
export function unpromise(
  work: Work,
  { roster, board, turns }: Pick<Applying, 'roster' | 'board' | 'turns'>,
): void {
  const touched = new Set<Session>()
  for (const [index, session] of work.promises.entries()) {
    const { item } = work.submits[index] as SubmitEntry
    if (session) release(session, board.get(item.laneId)?.lane.weight ?? 1, touched)
  }
  for (const claim of work.claims) {
    const { weight } = claim.hint.lane
    for (const session of claim.sessions) release(session, weight, touched)
    turns.refund(claim.hint, claim.sessions.length * weight)
    // What it would have taken is still there, whatever a claim that stepped over it has seen.
    board.entered(claim.hint.lane.id, null)
  }
  for (const session of touched) roster.review(session)
}

function applySubmits(
  work: Work,
  result: TickResult,
  context: Applying,
  touched: Set<Session>,
): void {
  const { board } = context
  const wasTaken = takenAtOnce(work, result)
  for (let index = 0; index < work.submits.length; index += 1) {
    const entry = work.submits[index] as SubmitEntry
    const run = entry.item
    const verdict = result.submits[index] ?? { kind: 'collision' }
    const session = work.promises[index]
    if (session) {
      const weight = board.get(run.laneId)?.lane.weight ?? 1
      release(session, weight, touched)
      if (verdict.kind === 'inserted') {
        grant(session, handedOff(run, work.batch.node, result.now), weight, context)
      }
    } else if (verdict.kind === 'inserted') {
      const place = { rank: run.rank, pos: run.id }
      const isDue = run.dueAt === null || run.dueAt <= result.now
      if (isDue && !wasTaken(run.laneId, place)) board.entered(run.laneId, place)
    }
    switch (verdict.kind) {
      case 'gated':
        // Who waits for other runs has not come to its gates yet.
        if (run.after === undefined) context.jams.met(run.gates, context.mono)
        answer(entry, { id: run.id, created: true })
        break
      case 'inserted':
      case 'exists':
        answer(entry, { id: run.id, created: true })
        break
      case 'duplicate':
        answer(entry, { id: verdict.id, created: false })
        break
      case 'mismatch':
        answer(
          entry,
          new PunctualError(
            'idempotency_mismatch',
            'the idempotency key was used for another run',
            {
              field: 'idempotency_key',
            },
          ),
        )
        break
      case 'unknown':
        answer(
          entry,
          new PunctualError(
            'run_not_found',
            `there is no ${publicId('run', verdict.id)} to start after`,
            { field: 'after' },
          ),
        )
        break
      case 'collision':
        context.remint(entry)
    }
  }
}

/**
 * Which places were emptied again by this very tick: claims look after the submissions, and one that
 * comes back short has taken everything behind its floor. Such a run never stood in line for others.
 */
function takenAtOnce(
  work: Work,
  result: TickResult,
): (laneId: number, place: LanePlace) => boolean {
  const emptied = new Map<number, LanePlace | null>()
  const limited = new Set(result.limited.map(({ laneId }) => laneId))
  for (const [index, { laneId, sessions, floor }] of work.batch.claims.entries()) {
    const isShort = (result.claims[index]?.length ?? 0) < sessions.length
    if (isShort && !limited.has(laneId)) emptied.set(laneId, floor)
  }
  return (laneId, place) => {
    const floor = emptied.get(laneId)
    return floor !== undefined && !isBefore(place, floor)
  }
}

function applyClaims(
  work: Work,
  result: TickResult,
  isProof: readonly boolean[],
  context: Applying,
  touched: Set<Session>,
): void {
  for (const [index, claim] of work.claims.entries()) {
    const leases = result.claims[index] ?? []
    const { weight, id } = claim.hint.lane
    for (const session of claim.sessions) release(session, weight, touched)
    context.turns.refund(claim.hint, (claim.sessions.length - leases.length) * weight)
    context.board.claimed(id, claim.sessions.length, leases, isProof[index] ?? false)
    for (const [row, lease] of leases.entries()) {
      grant(sessionOf(lease, row, claim.sessions), lease, weight, context)
    }
  }
}

/** Nearly always the one that was named for the row. */
function sessionOf(lease: Lease, row: number, sessions: readonly Session[]): Session | undefined {
  const named = sessions[row]
  return named?.id === lease.session ? named : sessions.find(({ id }) => id === lease.session)
}
