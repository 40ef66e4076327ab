import type { Lease, NewRun } from '../../store/port.ts'
import type { SessionIndex } from '../sessions/session-index.ts'
import type { Session } from '../sessions/session.ts'

export interface GrantContext {
  readonly sessionIndex: SessionIndex
  readonly mono: number
  /** Checked again at delivery, because time passed since the promise. */
  readonly mayGrant: boolean
  /** Returns a grant that can no longer be delivered. */
  giveBack(lease: Lease): void
  onGrant(lease: Lease): void
}

/** Releases a promise, whatever its outcome. */
export function releasePromise(session: Session, weight: number, touched: Set<Session>): void {
  session.promised = Math.max(0, session.promised - weight)
  touched.add(session)
}

/** The lease is durable: the session holds it from now on. */
export function grantLease(
  session: Session | undefined,
  lease: Lease,
  weight: number,
  context: GrantContext,
): void {
  if (!session || !context.sessionIndex.isCurrent(session) || !context.mayGrant) {
    context.giveBack(lease)
    return
  }
  session.credit = Math.max(0, session.credit - weight)
  context.sessionIndex.hold(session, lease, Number.POSITIVE_INFINITY, context.mono)
  context.onGrant(lease)
}

/** The lease of a directly assigned run, as the store wrote it. */
export function leaseOfAssignment(run: NewRun, node: number, now: number): Lease {
  const { session, fence } = run.reservation as NonNullable<NewRun['reservation']>
  return {
    runId: run.id,
    fence,
    node,
    session,
    projectId: run.projectId,
    jobId: run.jobId,
    laneId: run.laneId,
    rank: run.rank,
    pos: run.id,
    attempt: 1,
    lost: 0,
    cancelling: false,
    startedAt: now,
    createdAt: now,
    dueAt: run.dueAt,
    timeoutMs: run.timeoutMs,
    policy: run.policy,
    version: run.version,
    work: run.work,
    input: run.input,
  }
}

/**
 * Answers sessions that got something, or less than promised; they wait again for as much as they
 * have free slots.
 */
export function settleSessions(touched: Iterable<Session>, sessionIndex: SessionIndex): void {
  for (const session of touched) {
    sessionIndex.updateWaiting(session)
    if (session.pending?.reported && session.unconfirmed.size > 0) session.pending.settle()
  }
}
