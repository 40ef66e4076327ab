import type { Clock, Random } from '../../core/clock.ts'
import { randomInt } from '../../core/clock.ts'
import { PunctualError } from '../../core/errors.ts'
import { placementTexts, USER_LABEL } from '../../core/worker/labels.ts'
import type { Offer } from '../../core/queue/lane.ts'
import { publicId, requirePublicId } from '../../core/ids.ts'
import type { Heartbeat, HeartbeatAnswer, Hello, Welcome } from '../../core/wire/protocol.ts'
import type { Lease, NodeStore } from '../../store/port.ts'
import type { NodeConfig } from '../cluster/config.ts'
import type { Membership } from '../cluster/membership.ts'
import { confirm, createSession, type Session } from '../sessions/session.ts'
import type { Roster } from '../sessions/session-index.ts'

export interface RegistryOptions {
  readonly clock: Clock
  readonly random: Random
  readonly config: NodeConfig
  readonly store: Pick<NodeStore, 'adopt' | 'forgetSession' | 'quarantineSession'>
  readonly membership: Membership
  readonly roster: Roster
  /** Finds out which lanes have work. */
  look(): Promise<void>
  /** Uncounted: the attempt was never started, or its worker says it will not finish it. */
  giveBack(leases: readonly Lease[]): void
  /** Counted: the attempt was started and its worker stopped it. Resolves when that is durable. */
  lose(leases: readonly Lease[]): Promise<void>
  onError(error: unknown): void
}

/** Workers come, stay by heartbeat, come back under the same id, and go. */
export interface Registry {
  /** `ttlMs` is how long it may be silent, if not as long as others. */
  register(hello: Hello, project: string, ttlMs?: number): Promise<Welcome>
  /** The session named in a request, or the error that tells the worker to register again. */
  find(session: string, registration: number, project: string): Session
  heartbeat(session: Session, message: Heartbeat): HeartbeatAnswer
  leave(session: Session): Promise<void>
}

export function createRegistry(options: RegistryOptions): Registry {
  const { clock, config, roster, membership } = options
  const sharedOffer = createOffers()

  /** For people on other nodes as well. Nothing depends on it, so nobody waits for it. */
  const noteQuarantine = (session: Session, reason: string | null) => {
    if (session.quarantined === reason) return
    session.quarantined = reason
    const { id, registration } = session
    options.store
      .quarantineSession({ session: id, registration, reason })
      .catch((error: unknown) => {
        session.quarantined = null
        options.onError(error)
      })
  }

  return {
    async register(hello, project, ttlMs = config.leaseTtlMs) {
      requirePromises(membership)
      const id =
        hello.session === undefined
          ? randomInt(options.random, Number.MAX_SAFE_INTEGER - 1) + 1
          : requirePublicId('ses', hello.session, 'session')
      const sentMono = clock.mono()
      const held = hello.held.map(({ run, fence }, index) => ({
        runId: requirePublicId('run', run, `held.${index}.run`),
        fence,
      }))
      // A node without workers does not look at lanes; the first to come must not be given stale news.
      if (roster.sessions.size === 0) await options.look()
      const { node } = membership
      const offer = sharedOffer(offerOf(hello, hello.projects ?? [project]))
      const adopted = await options.store.adopt({
        node,
        session: id,
        registration: hello.registration,
        name: hello.name,
        project,
        offer: JSON.stringify({ ...offer, execution: hello.execution }),
        held,
      })
      const current = roster.sessions.get(id)
      if (!adopted || (current && current.registration > hello.registration)) {
        throw new PunctualError('session_superseded', 'a newer registration of this session exists')
      }
      if (membership.node !== node) requirePromises(null)
      if (current) {
        current.pending?.settle()
        roster.remove(current)
      }
      const session = createSession({
        id,
        project,
        name: hello.name,
        registration: hello.registration,
        offer,
        ttlMs,
        mono: sentMono,
      })
      roster.add(session)
      const kept = new Set<number>()
      for (const lease of adopted.adopted) {
        roster.hold(session, lease, 0, clock.mono())
        kept.add(lease.runId)
      }
      const forsaken = new Set(hello.forsaken.map(({ run, fence }) => `${run}/${fence}`))
      const isForsaken = ({ runId, fence }: Lease) =>
        forsaken.has(`${publicId('run', runId)}/${fence}`)
      options.giveBack(adopted.unlisted.filter((lease) => !isForsaken(lease)))
      // Once it is welcome, the worker says no more of these. Whoever it meets after us would take
      // them for attempts that were never started.
      await options.lose(adopted.unlisted.filter(isForsaken))
      const lost = held.filter(({ runId }) => !kept.has(runId))
      return {
        session: publicId('ses', id),
        leaseTtlMs: ttlMs,
        heartbeatMs: config.heartbeatMs,
        lost: lost.map(({ runId }) => publicId('run', runId)),
      }
    },

    find(text, registration, project) {
      const session = roster.sessions.get(requirePublicId('ses', text, 'session'))
      if (!session || session.project !== project || session.registration < registration) {
        throw new PunctualError('session_unknown', 'this node does not know the session')
      }
      if (session.registration > registration) {
        throw new PunctualError('session_superseded', 'a newer registration of this session exists')
      }
      return session
    },

    heartbeat(session, message) {
      requirePromises(membership)
      if (message.answered > session.exchange) {
        const why = `answered must be at most ${session.exchange}, the last exchange there was`
        throw new PunctualError('invalid_field', why, { field: 'answered' })
      }
      session.lastSeenMono = clock.mono()
      noteQuarantine(session, message.quarantined ?? null)
      confirm(session, message.answered)
      const listed = new Map<number, number>()
      for (const [index, { run, fence }] of message.held.entries()) {
        listed.set(requirePublicId('run', run, `held.${index}.run`), fence)
      }
      const lost: string[] = []
      for (const [runId, fence] of listed) {
        if (session.leases.get(runId)?.fence !== fence) lost.push(publicId('run', runId))
      }
      const cancels: string[] = []
      const dropped: Lease[] = []
      for (const lease of session.leases.values()) {
        const isListed = listed.get(lease.runId) === lease.fence
        if (isListed && lease.cancelling) cancels.push(publicId('run', lease.runId))
        if (!isListed && lease.exchange <= message.answered) dropped.push(lease)
      }
      options.giveBack(dropped)
      return { lost, cancels }
    },

    async leave(session) {
      session.pending?.settle()
      options.giveBack(roster.remove(session))
      const { id, registration } = session
      await options.store.forgetSession({ session: id, registration })
    },
  }
}

function offerOf(hello: Hello, projects: readonly string[]): Offer {
  const { queues, labels, executors, slots } = hello
  if (Object.hasOwn(labels, USER_LABEL)) {
    const why = `labels.${USER_LABEL} is no label: list the users in users`
    throw new PunctualError('invalid_field', why, { field: `labels.${USER_LABEL}` })
  }
  return { projects, queues, labels: placementTexts(hello), executors, slots }
}

const OFFERS = 10_000

/** One object for all sessions that offer the same: what is worked out for one holds for the others. */
function createOffers(): (offer: Offer) => Offer {
  const offers = new Map<string, Offer>()
  return (offer) => {
    const key = JSON.stringify(offer)
    const known = offers.get(key)
    if (known) return known
    if (offers.size >= OFFERS) offers.clear()
    offers.set(key, offer)
    return offer
  }
}

/** A node out of touch with the store must not keep a worker's hopes up. */
function requirePromises(membership: Membership | null): void {
  if (membership?.mayPromise()) return
  throw new PunctualError('node_cannot_renew', 'this node may not renew leases right now')
}
