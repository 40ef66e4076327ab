import type { Lease, NewRun } from '../../store/port.ts'
import type { Roster } from '../sessions/session-index.ts'
import type { Session } from '../sessions/session.ts'

export interface Granting {
  readonly roster: Roster
  readonly mono: number
  /** Asked again before grants are handed over: time has passed since they were promised. */
  readonly mayGrant: boolean
  /** A grant that cannot be delivered any more. */
  giveBack(lease: Lease): void
  onGrant(lease: Lease): void
}

/** Takes back what was promised, one way or the other. */
export function release(session: Session, weight: number, touched: Set<Session>): void {
  session.promised = Math.max(0, session.promised - weight)
  touched.add(session)
}

/** The lease is durable: the session holds it from now on. */
export function grant(
  session: Session | undefined,
  lease: Lease,
  weight: number,
  context: Granting,
): void {
  if (!session || !context.roster.isCurrent(session) || !context.mayGrant) {
    context.giveBack(lease)
    return
  }
  session.credit = Math.max(0, session.credit - weight)
  context.roster.hold(session, lease, Number.POSITIVE_INFINITY, context.mono)
  context.onGrant(lease)
}

/** The lease of a run that never stood in line, as the store wrote it. */
export function handedOff(run: NewRun, node: number, now: number): Lease {
  const { session, fence } = run.handOff as NonNullable<NewRun['handOff']>
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

/** Who got something, or less than was promised, is told so and waits again for as much as it has room. */
export function settle(touched: Iterable<Session>, roster: Roster): void {
  for (const session of touched) {
    roster.review(session)
    if (session.pending?.reported && session.unconfirmed.size > 0) session.pending.settle()
  }
}
