import { PunctualError } from '../../core/errors.ts'
import { publicId } from '../../core/ids.ts'
import type { EndCommand, LanePosition, Lease, TickResult } from '../../store/port.ts'
import type { SessionIndex } from '../sessions/session-index.ts'
import type { HeldLease, Session } from '../sessions/session.ts'
import type { NodeSignals } from '../signals/signals.ts'
import { isBefore } from './lanes/lane-hint.ts'
import type { LaneIndex } from './lanes/lane-index.ts'
import type { TickWork } from './compose-tick.ts'
import {
  grantLease,
  type GrantContext,
  leaseOfAssignment,
  releasePromise,
  settleSessions,
} from './grants.ts'
import type { SaturatedGates } from './saturated-gates.ts'
import { answerEntry, type EndEntry, type SubmitEntry } from './pending.ts'
import type { FairTurns } from './fair-turns.ts'

export interface ApplyContext extends GrantContext {
  readonly laneIndex: LaneIndex
  readonly turns: FairTurns
  readonly saturatedGates: SaturatedGates
  /** Another node's run already has this id: gives the run a new one and tries again. */
  remint(entry: SubmitEntry): void
  readonly signals: Pick<
    NodeSignals,
    'timerWritten' | 'lanesUnsure' | 'queueLimited' | 'attemptEnded'
  >
}

const NO_LANE = 0

/** Applies the result of a durable tick: answers callers, delivers grants, updates hints. */
export function applyResult(work: TickWork, result: TickResult, context: ApplyContext): void {
  const touched = new Set<Session>()
  const limited = new Set(result.limited.map(({ laneId }) => laneId))
  const isAlone = work.claims.map(
    ({ hint, arrivals }) => hint.arrivals === arrivals && !limited.has(hint.lane.id),
  )
  applySubmits(work, result, context, touched)
  for (let index = 0; index < work.ends.length; index += 1) {
    const entry = work.ends[index] as EndEntry
    // The reaper removes silent sessions, with their leases, before it ends these.
    const lease = dropEnded(entry.item, context.sessionIndex) ?? entry.group.leases?.[entry.index]
    const verdict = result.ends[index] ?? 'stale'
    if (lease && verdict === 'ended') context.signals.attemptEnded(lease, entry.item, result.now)
    answerEntry(entry, verdict)
  }
  for (const [index, entry] of work.cancels.entries()) {
    const verdict = result.cancels[index] ?? { kind: 'unknown' }
    const held =
      verdict.kind === 'marked' ? context.sessionIndex.leaseOf(entry.item.runId) : undefined
    if (held) held.cancelling = true
    answerEntry(entry, verdict)
  }
  // Runs that a repeated batch finds already stored entered lanes in a commit of unknown outcome.
  if (isRepeat(work)) context.signals.lanesUnsure()
  // Slots may have been reserved for one of them.
  const wasCancelled = result.cancels.some(({ kind }) => kind === 'cancelled')
  if (wasCancelled && context.laneIndex.isSlotReserved(NO_LANE)) context.signals.lanesUnsure()
  for (const laneId of result.refilled) context.laneIndex.entered(laneId, null)
  // A claim with a floor proves a lane empty only if no run entered before the floor in this tick.
  const isProof = work.claims.map(
    ({ hint }, index) =>
      isAlone[index] === true && (hint.floor !== null || work.batch.claims[index]?.floor === null),
  )
  applyClaims(work, result, isProof, context, touched)
  for (const { laneId, until } of result.limited) {
    context.laneIndex.limitUntil(laneId, context.mono + until - result.now)
    context.signals.queueLimited()
  }
  if (result.nextDueAt !== null) context.signals.timerWritten(result.nextDueAt)
  settleSessions(touched, context.sessionIndex)
}

function isRepeat({ submits, ends, cancels }: TickWork): boolean {
  return [submits, ends, cancels].some((entries) => entries.some(({ tried }) => tried))
}

/** A node that ends another node's lease must not drop leases adopted in the meantime. */
function dropEnded(
  { runId, fence, owner }: EndCommand,
  sessionIndex: SessionIndex,
): HeldLease | undefined {
  if (owner !== null && sessionIndex.leaseOf(runId)?.node !== owner) return undefined
  return sessionIndex.drop(runId, fence)
}

/** Releases the promises of a tick that did not happen. */
export function releasePromises(
  work: TickWork,
  { sessionIndex, laneIndex, turns }: Pick<ApplyContext, 'sessionIndex' | 'laneIndex' | 'turns'>,
): void {
  const touched = new Set<Session>()
  for (const [index, session] of work.promises.entries()) {
    const { item } = work.submits[index] as SubmitEntry
    if (session) releasePromise(session, laneIndex.get(item.laneId)?.lane.weight ?? 1, touched)
  }
  for (const claim of work.claims) {
    const { weight } = claim.hint.lane
    for (const session of claim.sessions) releasePromise(session, weight, touched)
    turns.refund(claim.hint, claim.sessions.length * weight)
    // The runs it would have taken are still there, whatever a later claim has seen.
    laneIndex.entered(claim.hint.lane.id, null)
  }
  for (const session of touched) sessionIndex.updateWaiting(session)
}

function applySubmits(
  work: TickWork,
  result: TickResult,
  context: ApplyContext,
  touched: Set<Session>,
): void {
  const { laneIndex } = context
  const wasTaken = takenAtOnce(work, result)
  for (let index = 0; index < work.submits.length; index += 1) {
    const entry = work.submits[index] as SubmitEntry
    const run = entry.item
    const verdict = result.submits[index] ?? { kind: 'collision' }
    const session = work.promises[index]
    if (session) {
      const weight = laneIndex.get(run.laneId)?.lane.weight ?? 1
      releasePromise(session, weight, touched)
      if (verdict.kind === 'inserted') {
        grantLease(session, leaseOfAssignment(run, work.batch.node, result.now), weight, context)
      }
    } else if (verdict.kind === 'inserted') {
      const place = { rank: run.rank, pos: run.id }
      const isDue = run.dueAt === null || run.dueAt <= result.now
      if (isDue && !wasTaken(run.laneId, place)) laneIndex.entered(run.laneId, place)
    }
    switch (verdict.kind) {
      case 'gated':
        // A run that waits for other runs has not reached its gates yet.
        if (run.after === undefined) context.saturatedGates.noteBlocked(run.gates, context.mono)
        answerEntry(entry, { id: run.id, created: true })
        break
      case 'inserted':
      case 'exists':
        answerEntry(entry, { id: run.id, created: true })
        break
      case 'duplicate':
        answerEntry(entry, { id: verdict.id, created: false })
        break
      case 'mismatch':
        answerEntry(
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
        answerEntry(
          entry,
          new PunctualError('run_not_found', `run ${publicId('run', verdict.id)} does not exist`, {
            field: 'after',
          }),
        )
        break
      case 'collision':
        context.remint(entry)
    }
  }
}

/**
 * Positions that this tick emptied again: claims run after submissions, and a short claim has taken
 * everything behind its floor. Such a run never waited for others.
 */
function takenAtOnce(
  work: TickWork,
  result: TickResult,
): (laneId: number, place: LanePosition) => boolean {
  const emptied = new Map<number, LanePosition | null>()
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
  work: TickWork,
  result: TickResult,
  isProof: readonly boolean[],
  context: ApplyContext,
  touched: Set<Session>,
): void {
  for (const [index, claim] of work.claims.entries()) {
    const leases = result.claims[index] ?? []
    const { weight, id } = claim.hint.lane
    for (const session of claim.sessions) releasePromise(session, weight, touched)
    context.turns.refund(claim.hint, (claim.sessions.length - leases.length) * weight)
    context.laneIndex.claimed(id, claim.sessions.length, leases, isProof[index] ?? false)
    for (const [row, lease] of leases.entries()) {
      grantLease(sessionOf(lease, row, claim.sessions), lease, weight, context)
    }
  }
}

/** Almost always the session named for the row. */
function sessionOf(lease: Lease, row: number, sessions: readonly Session[]): Session | undefined {
  const named = sessions[row]
  return named?.id === lease.session ? named : sessions.find(({ id }) => id === lease.session)
}
