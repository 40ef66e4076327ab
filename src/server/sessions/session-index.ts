import type { Offer } from '../../core/queue/lane.ts'
import type { Lease } from '../../store/port.ts'
import type { HeldLease, Session } from './session.ts'

/** The sessions and leases of one node, and who is waiting for work. Memory only; the store is the truth. */
export interface Roster {
  readonly sessions: ReadonlyMap<number, Session>
  /**
   * Sessions with room, those that offer the same together, longest waiting first. None is empty.
   * Some may have stopped listening: see `isListening`.
   */
  readonly crowds: ReadonlyMap<Offer, ReadonlySet<Session>>
  add(session: Session): void
  /** Removes a session and hands out the leases it had. */
  remove(session: Session): HeldLease[]
  isCurrent(session: Session): boolean
  leaseOf(runId: number): HeldLease | undefined
  allLeases(): Iterable<HeldLease>
  leaseCount(): number
  /** Puts a session into or out of the waiting line, by the room it has. */
  review(session: Session): void
  /** Takes a session out of the line until it is reviewed again. */
  dismiss(session: Session): void
  /** Moves a session to the end of the line after it was dealt to, and its crowd behind the others. */
  requeue(session: Session): void
  hold(session: Session, lease: Lease, exchange: number, mono: number): HeldLease
  /** A lease that a session will hold from that time on, and does not know of before. */
  expect(lease: Lease, mono: number): void
  /** Forgets a lease if it is still the one with this fence. */
  drop(runId: number, fence: number): HeldLease | undefined
  clear(): void
}

export function createRoster(): Roster {
  const sessions = new Map<number, Session>()
  const crowds = new Map<Offer, Set<Session>>()
  const leases = new Map<number, HeldLease>()

  const joinCrowd = (session: Session) => {
    const crowd = crowds.get(session.offer)
    if (crowd) crowd.add(session)
    else crowds.set(session.offer, new Set([session]))
  }

  const leaveCrowd = (session: Session): boolean => {
    const crowd = crowds.get(session.offer)
    const wasThere = crowd?.delete(session) ?? false
    if (crowd?.size === 0) crowds.delete(session.offer)
    return wasThere
  }

  const roster: Roster = {
    sessions,
    crowds,

    add(session) {
      sessions.set(session.id, session)
    },

    remove(session) {
      if (sessions.get(session.id) === session) sessions.delete(session.id)
      leaveCrowd(session)
      const held = [...session.leases.values()]
      for (const lease of held) {
        if (leases.get(lease.runId) === lease) leases.delete(lease.runId)
      }
      session.leases.clear()
      session.unconfirmed.clear()
      return held
    },

    isCurrent: (session) => sessions.get(session.id) === session,
    leaseOf: (runId) => leases.get(runId),
    allLeases: () => leases.values(),
    leaseCount: () => leases.size,

    review(session) {
      const hasRoom = session.credit > session.promised
      if (hasRoom && roster.isCurrent(session)) joinCrowd(session)
      else leaveCrowd(session)
    },

    dismiss: (session) => void leaveCrowd(session),

    requeue(session) {
      if (!leaveCrowd(session)) return
      roster.review(session)
      const crowd = crowds.get(session.offer)
      if (!crowd || !crowds.delete(session.offer)) return
      crowds.set(session.offer, crowd)
    },

    hold(session, lease, exchange, mono) {
      // The lease is ours from here on: two more fields, not a copy of twenty.
      const held = lease as HeldLease
      held.exchange = exchange
      held.grantedMono = mono
      leases.set(lease.runId, held)
      session.leases.set(lease.runId, held)
      if (exchange > session.answered) session.unconfirmed.set(lease.runId, held)
      return held
    },

    expect(lease, mono) {
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
      for (const session of [...sessions.values()]) roster.remove(session)
      leases.clear()
    },
  }
  return roster
}
