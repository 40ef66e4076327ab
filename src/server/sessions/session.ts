import type { RunProgress } from '../../core/wire/protocol.ts'
import type { Offer } from '../../core/queue/lane.ts'
import type { Principal } from '../identity/principal.ts'
import type { Lease } from '../../store/port.ts'

/** A lease this node is responsible for. */
export interface HeldLease extends Lease {
  /**
   * The exchange whose answer carried it last. Once the worker has received that answer, a
   * heartbeat without the attempt means that it was never started. Infinity before any answer; 0
   * when the worker itself listed it.
   */
  exchange: number
  cancelling: boolean
  grantedMono: number
  /** The latest reported progress, and when it was published. */
  progress?: { readonly progress: RunProgress; readonly publishedMono: number }
}

/** An exchange that waits for its verdicts, for work, or for its time. */
export interface PendingExchange {
  readonly number: number
  /** Answers it with whatever is there now. */
  settle(): void
  /** True once the verdicts on its finished attempts are in. */
  reported: boolean
}

/**
 * A worker as its node sees it. In memory only: a worker that moves to another node brings its
 * leases.
 */
export interface Session {
  readonly id: number
  /** The project it registered in: requests for it are accepted only from there. */
  readonly project: string
  /** The principal that registered it last: only this principal can use it. */
  readonly owner: Principal
  /** Its weight in the session limit of its owner: 1, or more if its offer is large. */
  readonly weight: number
  /** The digest of its secret; null for a session that has none. */
  readonly secret: Buffer | null
  /** Its token is no longer valid: it gets no leases and loses those it holds. */
  isEnded: boolean
  readonly name: string
  readonly registration: number
  readonly offer: Offer
  /** After a longer silence it loses its leases. */
  readonly ttlMs: number
  readonly leases: Map<number, HeldLease>
  /** Grants the worker has not confirmed: every answer repeats them until it does. */
  readonly unconfirmed: Map<number, HeldLease>
  /** Free slots as last reported by the worker, minus later grants. */
  credit: number
  /** Slots requested in claims in progress. */
  promised: number
  lastSeenMono: number
  /** When that was last written to the store. */
  notedMono: number
  /** Why the worker is quarantined, if it says so. */
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
  owner: Principal
  weight: number
  secret: Buffer | null
  name: string
  registration: number
  offer: Offer
  ttlMs: number
  mono: number
}): Session {
  return {
    id: input.id,
    project: input.project,
    owner: input.owner,
    weight: input.weight,
    secret: input.secret,
    isEnded: false,
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

/** The worker has received the answer to exchange `number`, and with it the grants. */
export function confirm(session: Session, number: number): void {
  session.answered = Math.max(session.answered, number)
  for (const [runId, lease] of session.unconfirmed) {
    if (lease.exchange <= session.answered) session.unconfirmed.delete(runId)
  }
}

/**
 * Between two exchanges a worker still has the free slots it reported: a grant waits for its next
 * message, which a worker with free slots sends at once. After a longer silence it may be busy or
 * gone, and another worker should get the run.
 */
const ABSENCE_MS = 25

export function isListening(session: Session, mono: number): boolean {
  return session.pending !== null || mono - session.answeredMono < ABSENCE_MS
}
