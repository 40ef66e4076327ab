import type { Offer } from '../../core/queue/lane.ts'
import type { Lease } from '../../store/port.ts'
import type { HeldLease, Session } from './session.ts'

/**
 * The sessions and leases of one node, and which sessions wait for work. Memory only; the store is
 * authoritative.
 */
export interface SessionIndex {
  readonly sessions: ReadonlyMap<number, Session>
  /**
   * Sessions with free slots, grouped by offer, longest waiting first. No group is empty. Some
   * sessions may have stopped listening: see `isListening`.
   */
  readonly offerGroups: ReadonlyMap<Offer, ReadonlySet<Session>>
  /** The total weight of an owner's sessions on this node. */
  weightOf(owner: string): number
  add(session: Session): void
  /** Removes a session and returns its leases. */
  remove(session: Session): HeldLease[]
  /** It belongs to this node and may be given work. */
  isCurrent(session: Session): boolean
  /** Its token is no longer valid: it gets no work, and stays until it has been silent for long. */
  end(session: Session): void
  leaseOf(runId: number): HeldLease | undefined
  allLeases(): Iterable<HeldLease>
  leaseCount(): number
  /** Adds a session to the waiting ones or removes it, depending on its free slots. */
  updateWaiting(session: Session): void
  /** Removes a session from the waiting ones until the next update. */
  stopWaiting(session: Session): void
  /**
   * Moves a session to the end of its group after an assignment, and the group behind the others.
   */
  requeue(session: Session): void
  hold(session: Session, lease: Lease, exchange: number, mono: number): HeldLease
  /** A lease that a session will hold from that time on; it does not know of it before. */
  expectLease(lease: Lease, mono: number): void
  /** Removes a lease if it still has this fence. */
  drop(runId: number, fence: number): HeldLease | undefined
  clear(): void
}

export interface SessionIndexOptions {
  /** A session left this node. */
  readonly onRemove?: (session: Session) => void
}

export function createSessionIndex({ onRemove }: SessionIndexOptions = {}): SessionIndex {
  const sessions = new Map<number, Session>()
  const groups = createWaitingGroups()
  const leases = new Map<number, HeldLease>()
  const weights = createOwnerWeights()

  const sessionIndex: SessionIndex = {
    sessions,
    offerGroups: groups.byOffer,
    weightOf: weights.of,

    add(session) {
      const before = sessions.get(session.id)
      if (before) weights.add(before, -1)
      sessions.set(session.id, session)
      weights.add(session, 1)
    },

    remove(session) {
      if (sessions.get(session.id) === session) {
        sessions.delete(session.id)
        weights.add(session, -1)
        onRemove?.(session)
      }
      groups.leave(session)
      const held = [...session.leases.values()]
      for (const lease of held) {
        if (leases.get(lease.runId) === lease) leases.delete(lease.runId)
      }
      session.leases.clear()
      session.unconfirmed.clear()
      return held
    },

    isCurrent: (session) => sessions.get(session.id) === session && !session.isEnded,
    end(session) {
      session.isEnded = true
      session.credit = 0
      groups.leave(session)
    },
    leaseOf: (runId) => leases.get(runId),
    allLeases: () => leases.values(),
    leaseCount: () => leases.size,

    updateWaiting(session) {
      const hasFreeSlots = session.credit > session.promised
      if (hasFreeSlots && sessionIndex.isCurrent(session)) groups.join(session)
      else groups.leave(session)
    },

    stopWaiting: (session) => void groups.leave(session),

    requeue(session) {
      if (!groups.leave(session)) return
      sessionIndex.updateWaiting(session)
      groups.moveBehind(session.offer)
    },

    hold(session, lease, exchange, mono) {
      // The lease object belongs to this node from here on: two more fields instead of a copy of
      // twenty.
      const held = lease as HeldLease
      held.exchange = exchange
      held.grantedMono = mono
      leases.set(lease.runId, held)
      session.leases.set(lease.runId, held)
      if (exchange > session.answered) session.unconfirmed.set(lease.runId, held)
      return held
    },

    expectLease(lease, mono) {
      leases.set(
        lease.runId,
        Object.assign(lease, { exchange: Number.POSITIVE_INFINITY, grantedMono: mono }),
      )
    },

    drop(runId, fence) {
      const lease = leases.get(runId)
      if (!lease || lease.fence !== fence) return undefined
      leases.delete(runId)
      const session = sessions.get(lease.session)
      if (session?.leases.get(runId) === lease) {
        session.leases.delete(runId)
        session.unconfirmed.delete(runId)
      }
      return lease
    },

    clear() {
      for (const session of [...sessions.values()]) sessionIndex.remove(session)
      leases.clear()
    },
  }
  return sessionIndex
}

/** The total weight of each owner's sessions. */
function createOwnerWeights() {
  const weights = new Map<string, number>()
  return {
    of: (owner: string): number => weights.get(owner) ?? 0,
    add({ owner, weight }: Session, sign: 1 | -1): void {
      const sum = (weights.get(owner.id) ?? 0) + sign * weight
      if (sum > 0) weights.set(owner.id, sum)
      else weights.delete(owner.id)
    },
  }
}

/** Waiting sessions by their offer. */
function createWaitingGroups() {
  const byOffer = new Map<Offer, Set<Session>>()
  return {
    byOffer: byOffer as ReadonlyMap<Offer, ReadonlySet<Session>>,
    join(session: Session): void {
      const group = byOffer.get(session.offer)
      if (group) group.add(session)
      else byOffer.set(session.offer, new Set([session]))
    },
    /** Returns whether it was waiting. */
    leave(session: Session): boolean {
      const group = byOffer.get(session.offer)
      const wasThere = group?.delete(session) ?? false
      if (group?.size === 0) byOffer.delete(session.offer)
      return wasThere
    },
    /** Moves a group behind the others. */
    moveBehind(offer: Offer): void {
      const group = byOffer.get(offer)
      if (!group || !byOffer.delete(offer)) return
      byOffer.set(offer, group)
    },
  }
}
