import { type Random, randomInt } from '../../core/clock.ts'
import { PunctualError } from '../../core/errors.ts'
import { publicId, requirePublicId } from '../../core/ids.ts'
import {
  type Heartbeat,
  type HeartbeatAnswer,
  type Hello,
  PROTOCOLS,
  type SessionKey,
  type Welcome,
} from '../../core/wire/protocol.ts'
import type { NodeStore, SessionOwner } from '../../store/port.ts'
import { INTERNAL, mayServe, type Principal } from '../identity/principal.ts'
import {
  type AdmittedSession,
  createSessionAdmission,
  type GivenSession,
  type RequestOrigin,
  type SessionAdmissionDeps,
} from './session-admission.ts'
import { supersededSession, unknownSession } from './session-errors.ts'
import { acceptHeartbeat, type SessionHeartbeatDeps } from './session-heartbeat.ts'
import { digestOfSecret, isSecretOf, mintSessionSecret } from './session-secret.ts'
import type { Session } from '../sessions/session.ts'
import type { WorkerIds } from './worker-ids.ts'

export type { GivenSession, RequestOrigin } from './session-admission.ts'

export interface SessionRegistryOptions extends SessionAdmissionDeps, SessionHeartbeatDeps {
  readonly random: Random
  readonly store: SessionAdmissionDeps['store'] &
    SessionHeartbeatDeps['store'] &
    Pick<NodeStore, 'forgetSession'>
  readonly membership: SessionAdmissionDeps['membership']
  readonly workerIds: WorkerIds
}

/** Registers worker sessions, keeps them by heartbeats, and ends them. */
export interface SessionRegistry {
  /** `secret` is the one returned by the first registration of the session. */
  register(hello: Hello, origin: RequestOrigin, secret?: string): Promise<Welcome>
  /** Registers a worker of a protocol without sessions, under the id the server derives for it. */
  registerWithId(hello: Hello, origin: RequestOrigin, given: GivenSession): Promise<void>
  /** The caller's own session, or the error that makes the worker register again. */
  find(key: SessionKey, registration: number, origin: RequestOrigin): Session
  heartbeat(session: Session, message: Heartbeat): HeartbeatAnswer
  leave(session: Session): Promise<void>
  /**
   * The token is revoked or has expired: its sessions get no more leases and lose those they hold. Tokens of the
   * installation share one owner: a worker whose token is still valid registers again.
   */
  endToken(tokenId: number, isOfInstallation: boolean): void
}

export function createSessionRegistry(options: SessionRegistryOptions): SessionRegistry {
  const { config, sessionIndex } = options
  const admit = createSessionAdmission(options)

  const answer = (id: number, admitted: AdmittedSession | 'taken', secret?: string): Welcome => {
    if (admitted === 'taken') throw unknownSession()
    return {
      session: publicId('ses', id),
      protocol: admitted.hasSecret ? 2 : 1,
      ...(secret === undefined ? {} : { secret }),
      worker: options.workerIds(id),
      leaseTtlMs: config.leaseTtlMs,
      heartbeatMs: config.heartbeatMs,
      lost: admitted.lost,
    }
  }

  return {
    async register(hello, origin, presented) {
      const protocol = chooseProtocol(hello.protocol ?? [1], config.minWorkerProtocol)
      const ttlMs = config.leaseTtlMs
      if (hello.session !== undefined) {
        const id = requirePublicId('ses', hello.session, 'session')
        const owner = ownerOf(origin.principal, presented)
        return answer(id, await admit(hello, origin, { id, isNew: false, ttlMs, owner }))
      }
      const secret = protocol >= 2 ? mintSessionSecret() : undefined
      const owner = ownerOf(origin.principal, secret)
      for (;;) {
        const id = randomInt(options.random, Number.MAX_SAFE_INTEGER - 1) + 1
        const admitted = await admit(hello, origin, { id, isNew: true, ttlMs, owner })
        if (admitted !== 'taken') return answer(id, admitted, secret)
      }
    },

    async registerWithId(hello, origin, given) {
      const owner = ownerOf(origin.principal)
      if ((await admit(hello, origin, { ...given, owner }, 1)) === 'taken')
        throw supersededSession()
    },

    find(key, registration, origin) {
      const session = sessionIndex.sessions.get(requirePublicId('ses', key.id, 'session'))
      // One error for all cases, so that callers cannot find out which sessions exist.
      if (!session || !isOwn(session, key, origin)) throw unknownSession()
      if (session.registration < registration) throw unknownSession()
      if (session.registration > registration) throw supersededSession()
      return session
    },

    heartbeat: (session, message) => acceptHeartbeat(session, message, options),

    async leave(session) {
      session.pending?.settle()
      options.giveBack(sessionIndex.remove(session))
      const { id, registration } = session
      await options.store.forgetSession({ session: id, registration })
    },

    endToken(tokenId, isOfInstallation) {
      const ended = isOfInstallation ? null : tokenId
      for (const session of sessionIndex.sessions.values()) {
        if (session.owner.tokenId !== ended || session.owner.id === INTERNAL.id) continue
        if (session.isEnded) continue
        sessionIndex.end(session)
        // A grant that no answer carried was not started. The other leases end when they expire:
        // until then their worker may still run them.
        const unsent = [...session.unconfirmed.values()].filter(
          ({ exchange }) => exchange === Infinity,
        )
        options.giveBack(unsent)
        session.pending?.settle()
      }
    },
  }
}

function ownerOf({ id, identity }: Principal, secret?: string): SessionOwner {
  return { owner: id, identity, secret: secret === undefined ? null : digestOfSecret(secret) }
}

/**
 * Checks the token, the secret, and that the session serves no more projects than the caller may.
 */
function isOwn(session: Session, key: SessionKey, { project, principal }: RequestOrigin): boolean {
  if (session.isEnded || session.owner.id !== principal.id || session.project !== project) {
    return false
  }
  return mayServe(principal, session.offer.projects) && isSecretOf(session.secret, key.secret)
}

/** The highest version that both sides speak. */
function chooseProtocol(spoken: readonly number[], least: number): number {
  const known = PROTOCOLS.filter((version) => version >= least)
  const shared = known.filter((version) => spoken.includes(version))
  if (shared.length > 0) return Math.max(...shared)
  const ours = known.length === 1 ? `version ${known[0]}` : `versions ${known.join(' and ')}`
  const message = `this server speaks ${ours} of the worker protocol, not ${spoken.join(', ')}`
  throw new PunctualError('protocol_unsupported', message, { field: 'protocol' })
}
