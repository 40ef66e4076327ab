import type { Clock } from '../../core/clock.ts'
import { PunctualError } from '../../core/errors.ts'
import { publicId, requirePublicId } from '../../core/ids.ts'
import type { Offer } from '../../core/queue/lane.ts'
import type { Hello } from '../../core/wire/protocol.ts'
import type { Adoption, Lease, NodeStore, SessionOwner } from '../../store/port.ts'
import { mayServe, type Principal } from '../identity/principal.ts'
import type { NodeConfig } from '../cluster/config.ts'
import type { Membership } from '../cluster/membership.ts'
import { createOffers, offerOf } from '../sessions/offers.ts'
import {
  cannotRenew,
  requirePromises,
  supersededSession,
  unknownSession,
} from './session-errors.ts'
import type { SessionIndex } from '../sessions/session-index.ts'
import { createSessionLimit, weightOfOffer } from './session-limit.ts'
import { readDigest } from './session-secret.ts'
import { createSession } from '../sessions/session.ts'

/** Where a request comes from. */
export interface RequestOrigin {
  /** The project of the request. */
  readonly project: string
  readonly principal: Principal
  /**
   * Checked after a long wait, because the token may have been revoked meanwhile. Absent where
   * there is none.
   */
  isStillValid?(): boolean | Promise<boolean>
}

export interface GivenSession {
  readonly id: number
  readonly isNew: boolean
  /** How long it may be silent. */
  readonly ttlMs: number
}

/** A session to be opened, or taken over from an earlier registration. */
export interface OwnedSession extends GivenSession {
  readonly owner: SessionOwner
}

export interface AdmittedSession {
  /** Listed attempts that the session has lost. */
  readonly lost: readonly string[]
  readonly hasSecret: boolean
}

export interface SessionAdmissionDeps {
  readonly clock: Pick<Clock, 'mono'>
  readonly config: NodeConfig
  readonly store: Pick<NodeStore, 'openSession' | 'adopt'>
  readonly membership: Pick<Membership, 'node' | 'mayPromise'>
  readonly sessionIndex: SessionIndex
  /** Looks up which lanes have work. */
  refreshLanes(): Promise<void>
  /** Uncounted: the attempt was never started, or its worker says it will not finish it. */
  giveBack(leases: readonly Lease[]): void
  /** Counted: the attempt was started and its worker stopped it. Resolves when that is durable. */
  lose(leases: readonly Lease[]): Promise<void>
}

/**
 * Admits a session to this node: checks what it may serve, writes it to the store, and takes its
 * leases over. `taken`: another session has the id of the new one.
 */
export type AdmitSession = (
  hello: Hello,
  origin: RequestOrigin,
  given: OwnedSession,
  leastProtocol?: number,
) => Promise<AdmittedSession | 'taken'>

export function createSessionAdmission(deps: SessionAdmissionDeps): AdmitSession {
  const { clock, config, sessionIndex, membership } = deps
  const sharedOffer = createOffers()
  const limit = createSessionLimit({
    sessionIndex,
    clock,
    ttlMs: config.leaseTtlMs,
    maxPerToken: config.maxSessionsPerToken,
  })

  /** The requested session, as the store and this node should know it. */
  const read = (hello: Hello, { project, principal }: RequestOrigin): WantedSession => {
    const projects = hello.projects ?? [project]
    if (!mayServe(principal, projects)) {
      const message = `this token serves the project ${principal.project} only`
      throw new PunctualError('forbidden', message, { field: 'projects' })
    }
    const held = attemptsOf(hello.held)
    const offer = sharedOffer(offerOf(hello, projects))
    const text = JSON.stringify({ ...offer, execution: hello.execution })
    return { held, offer, text, weight: weightOfOffer(text) }
  }

  return async (hello, origin, given, leastProtocol = config.minWorkerProtocol) => {
    requirePromises(membership)
    const sentMono = clock.mono()
    const { id, ttlMs } = given
    const { principal } = origin
    const wanted = read(hello, origin)
    const open = async (): Promise<AdmittedSession | 'taken'> => {
      if (given.isNew) limit.countNew(principal.id)
      // A node without workers does not read lanes; its first worker must not get outdated hints.
      if (sessionIndex.sessions.size === 0) await deps.refreshLanes()
      const write = () => writeSession(hello, origin, wanted, given, deps)
      const adoption = given.isNew
        ? await write()
        : await limit.takingOver(principal.id, write, (written) => typeof written === 'string')
      if (adoption === false) return 'taken'
      if (adoption === 'unknown') throw unknownSession()
      if (adoption === 'superseded') throw supersededSession()
      // The session is of protocol version 1, which is no longer accepted: the worker must register
      // a new one.
      if (adoption.secret === null && leastProtocol > 1) throw unknownSession()
      const entering = { ...wanted, id, ttlMs, sentMono, adoption }
      const lost = await addSession(hello, origin, entering, deps)
      return { lost, hasSecret: adoption.secret !== null }
    }
    // A session that registers again replaces itself.
    const before = sessionIndex.sessions.get(id)
    const replaced = before?.owner.id === principal.id ? before.weight : 0
    return limit.within(principal.id, wanted.weight - replaced, open)
  }
}

interface WantedSession {
  readonly held: readonly { runId: number; fence: number }[]
  readonly offer: Offer
  /** The offer as the store keeps it. */
  readonly text: string
  readonly weight: number
}

interface EnteringSession extends WantedSession {
  readonly id: number
  readonly ttlMs: number
  readonly sentMono: number
  readonly adoption: Adoption
}

const NOTHING_HELD: Omit<Adoption, 'secret'> = { adopted: [], unlisted: [] }

/** Writes the session to the store. */
async function writeSession(
  hello: Hello,
  { project, principal }: RequestOrigin,
  { held, text }: WantedSession,
  { id, isNew, owner }: OwnedSession,
  { store, membership }: SessionAdmissionDeps,
): Promise<Adoption | false | 'unknown' | 'superseded'> {
  const { node } = membership
  const binding = {
    node,
    session: id,
    registration: hello.registration,
    name: hello.name,
    project,
    offer: text,
    ...owner,
  }
  const adoption = isNew
    ? (await store.openSession(binding)) && { ...NOTHING_HELD, secret: owner.secret }
    : await store.adopt({ ...binding, isEverywhere: principal.project === null, held })
  // The incarnation that the session was written for has ended.
  if (membership.node !== node) throw cannotRenew()
  return adoption
}

/** Adds the session to this node. Returns which of the listed attempts are lost. */
async function addSession(
  hello: Hello,
  origin: RequestOrigin,
  { id, ttlMs, sentMono, adoption, offer, weight, held }: EnteringSession,
  { clock, sessionIndex, giveBack, lose }: SessionAdmissionDeps,
): Promise<string[]> {
  const current = sessionIndex.sessions.get(id)
  if (current && current.registration > hello.registration) throw supersededSession()
  if (current) {
    current.pending?.settle()
    sessionIndex.remove(current)
  }
  const session = createSession({
    id,
    project: origin.project,
    owner: origin.principal,
    offer,
    ttlMs,
    mono: sentMono,
    name: hello.name,
    registration: hello.registration,
    weight,
    secret: readDigest(adoption.secret),
  })
  sessionIndex.add(session)
  const kept = new Set<number>()
  for (const lease of adoption.adopted) {
    sessionIndex.hold(session, lease, 0, clock.mono())
    kept.add(lease.runId)
  }
  const forsaken = new Set(hello.forsaken.map(({ run, fence }) => `${run}/${fence}`))
  const isReportedForsaken = ({ runId, fence }: Lease) =>
    forsaken.has(`${publicId('run', runId)}/${fence}`)
  giveBack(adoption.unlisted.filter((lease) => !isReportedForsaken(lease)))
  // After registration the worker does not mention these again. A later node would take them for
  // attempts that were never started.
  await lose(adoption.unlisted.filter(isReportedForsaken))
  const lost = held.filter(({ runId }) => !kept.has(runId))
  return lost.map(({ runId }) => publicId('run', runId))
}

function attemptsOf(held: Hello['held']): { runId: number; fence: number }[] {
  return held.map(({ run, fence }, index) => ({
    runId: requirePublicId('run', run, `held.${index}.run`),
    fence,
  }))
}
