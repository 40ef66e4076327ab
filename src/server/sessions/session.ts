import type { RunProgress } from '../../core/wire/protocol.ts'
import type { Offer } from '../../core/queue/lane.ts'
import type { Lease } from '../../store/port.ts'

/** A lease this node is responsible for. */
export interface HeldLease extends Lease {
  /**
   * The exchange whose answer carried it last. Once the worker has taken that answer in, a
   * heartbeat without the attempt means it was never started. Infinity before any answer; 0 when
   * the worker itself listed it.
   */
  exchange: number
  cancelling: boolean
  grantedMono: number
  /** How far it says it is, and when others were told so. */
  progress?: { readonly progress: RunProgress; readonly toldMono: number }
}

/** An exchange that waits for its verdicts, for work, or for its time. */
export interface PendingExchange {
  readonly number: number
  /** Answers it with whatever is there now. */
  settle(): void
  /** True once the verdicts on its finished attempts are in. */
  reported: boolean
}

/** A worker as its node sees it. Lives in memory: a worker that comes back elsewhere brings its leases. */
export interface Session {
  readonly id: number
  /** The project it registered in: only from there it can be spoken for. */
  readonly project: string
  readonly name: string
  readonly registration: number
  readonly offer: Offer
  /** Silent for longer than this, it has lost its leases. */
  readonly ttlMs: number
  readonly leases: Map<number, HeldLease>
  /** Grants the worker has not confirmed: every answer carries them until it does. */
  readonly unconfirmed: Map<number, HeldLease>
  /** Slots the worker said are free, less what was granted since. Holds until it says otherwise. */
  credit: number
  /** Slots asked for in claims under way. */
  promised: number
  lastSeenMono: number
  /** The last of these that was written down. */
  notedMono: number
  /** Why the worker takes nothing, if it says so. */
  quarantined: string | null
  /** The highest exchange seen, and the last one the worker confirmed. */
  exchange: number
  answered: number
  pending: PendingExchange | null
  /** When the last exchange was answered. */
  answeredMono: number
}

export function createSession(input: {
  id: number
  project: string
  name: string
  registration: number
  offer: Offer
  ttlMs: number
  mono: number
}): Session {
  return {
    id: input.id,
    project: input.project,
    name: input.name,
    registration: input.registration,
    offer: input.offer,
    ttlMs: input.ttlMs,
    leases: new Map(),
    unconfirmed: new Map(),
    credit: 0,
    promised: 0,
    lastSeenMono: input.mono,
    notedMono: input.mono,
    quarantined: null,
    exchange: 0,
    answered: 0,
    pending: null,
    answeredMono: Number.NEGATIVE_INFINITY,
  }
}

/** The worker has taken in the answer to exchange `number`: its grants are in good hands. */
export function confirm(session: Session, number: number): void {
  session.answered = Math.max(session.answered, number)
  for (const [runId, lease] of session.unconfirmed) {
    if (lease.exchange <= session.answered) session.unconfirmed.delete(runId)
  }
}

/**
 * Between two exchanges a worker still has the room it reported: what is granted then waits for its
 * next message, which a worker with room sends at once. Longer than this it may be busy or gone, and
 * another worker should have the run.
 */
const ABSENCE_MS = 25

export function isListening(session: Session, mono: number): boolean {
  return session.pending !== null || mono - session.answeredMono < ABSENCE_MS
}
