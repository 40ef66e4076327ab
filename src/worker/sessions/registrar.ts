import {
  type Hello,
  PROTOCOLS,
  type SessionKey,
  type WorkerClient,
} from '../../core/wire/protocol.ts'
import type { Clock } from '../../core/clock.ts'
import { LIMITS } from '../../core/limits.ts'
import type { AttemptTable } from '../attempts/attempt-table.ts'
import { dropLost } from '../heartbeat/heartbeat-loop.ts'
import { leaseSpanMs, type SessionLease } from '../heartbeat/lease.ts'
import type { WorkerSettings } from './worker-options.ts'
import { isSessionUnknown, isSuperseded } from '../requests/refusal.ts'
import { sendRequest } from '../requests/send-request.ts'
import {
  createSessionRegistration,
  type SessionRegistration,
} from '../requests/session-registration.ts'

/** Time for a registration; the server looks up the listed attempts in its store. */
const ANSWER_MS = 5_000
/**
 * Every try uses a new number, so this many refusals in a row mean that another process uses the
 * session.
 */
const MAX_SUPERSEDED = 5

export interface Registrar {
  /** The session once there is one, and the number of the last registration sent. */
  readonly key: SessionKey | undefined
  readonly registration: number
  /** The worker's id in the server's lists. */
  readonly worker: string | undefined
  /**
   * Tries once. Throws the error of the server or the network; `undefined` when the signal aborted.
   */
  register(signal: AbortSignal): Promise<SessionRegistration | undefined>
}

export function createRegistrar(deps: {
  client: WorkerClient
  clock: Clock
  /** What the worker offers, once everything needed for that has started. */
  offer(): WorkerSettings['offer'] & Pick<Hello, 'users' | 'execution'>
  attemptTable: AttemptTable
  lease: SessionLease
  onSessionEnd(why: string): void
}): Registrar {
  const { client, clock, attemptTable, lease } = deps
  let key: SessionKey | undefined
  let worker: string | undefined
  let registration = 0
  let supersededInARow = 0

  /**
   * The server does not accept the session any more: its attempts are lost, and a new session
   * begins.
   */
  const startOver = () => {
    attemptTable.abandonRunning()
    key = undefined
    supersededInARow = 0
  }

  const handleRefusal = (error: unknown) => {
    if (key === undefined) return
    supersededInARow = isSuperseded(error) ? supersededInARow + 1 : 0
    if (isSessionUnknown(error) || supersededInARow >= MAX_SUPERSEDED) startOver()
  }

  return {
    get key() {
      return key
    },
    get worker() {
      return worker
    },
    get registration() {
      return registration
    },

    async register(signal) {
      // A new number for every try, because an earlier try may have arrived and only its answer was lost.
      // Without a session, every try is a first registration.
      registration = key === undefined ? 1 : registration + 1
      // Stops attempts whose lease has expired, so that they are not carried into the next session.
      lease.isKept()
      const held = attemptTable.held()
      const abandoned = [...attemptTable.abandoned()]
      const sentMono = clock.mono()
      const known = key === undefined ? {} : { session: key.id }
      const stopped = [...attemptTable.dropped(), ...abandoned].slice(-LIMITS.slots)
      const offer = { ...deps.offer(), protocol: PROTOCOLS }
      const hello = { ...offer, ...known, registration, held, forsaken: stopped }
      const sent = await sendRequest(() => client.register(hello, key?.secret), {
        clock,
        limitMs: ANSWER_MS,
        signal,
      })
      if (sent.kind === 'abandoned') return undefined
      if (sent.kind === 'failed') {
        handleRefusal(sent.error)
        throw sent.error
      }

      const { leaseTtlMs, heartbeatMs, lost } = sent.answer
      // Only the first answer contains the secret.
      key = { id: sent.answer.session, secret: sent.answer.secret ?? key?.secret }
      worker = sent.answer.worker
      supersededInARow = 0
      if (!(heartbeatMs > 0 && leaseSpanMs(leaseTtlMs) > heartbeatMs)) {
        const times = `${leaseTtlMs} ms with heartbeats every ${heartbeatMs} ms`
        throw new Error(`the server's lease of ${times} is too short to keep`)
      }
      if (attemptTable.abandoned().length > abandoned.length) {
        throw new Error(
          'the lease expired during the registration: the listed attempts are not held any more',
        )
      }
      lease.renew(sentMono, leaseTtlMs)
      dropLost(lost, held, attemptTable)
      attemptTable.clearReportedLosses()
      return createSessionRegistration(
        { key, registration, leaseTtlMs, heartbeatMs },
        deps.onSessionEnd,
      )
    },
  }
}
