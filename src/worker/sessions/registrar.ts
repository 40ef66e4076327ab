import {
  type Hello,
  type LeasedAttempt,
  PROTOCOLS,
  type SessionKey,
  type Welcome,
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

interface RegistrarDeps {
  readonly client: WorkerClient
  readonly clock: Clock
  /** What the worker offers, once everything needed for that has started. */
  offer(): WorkerSettings['offer'] & Pick<Hello, 'users' | 'execution'>
  readonly attemptTable: AttemptTable
  readonly lease: SessionLease
  onSessionEnd(why: string): void
}

export function createRegistrar(deps: RegistrarDeps): Registrar {
  return new SessionRegistrar(deps)
}

class SessionRegistrar implements Registrar {
  key: SessionKey | undefined
  worker: string | undefined
  registration = 0
  readonly #deps: RegistrarDeps
  #supersededInARow = 0

  constructor(deps: RegistrarDeps) {
    this.#deps = deps
  }

  async register(signal: AbortSignal): Promise<SessionRegistration | undefined> {
    const { client, clock, attemptTable, lease } = this.#deps
    // A new number for every try, because an earlier try may have arrived and only its answer was lost.
    // Without a session, every try is a first registration.
    this.registration = this.key === undefined ? 1 : this.registration + 1
    // Stops attempts whose lease has expired, so that they are not carried into the next session.
    lease.isKept()
    const held = attemptTable.held()
    const abandoned = [...attemptTable.abandoned()]
    const sentMono = clock.mono()
    const hello = this.#hello(held, abandoned)
    const sent = await sendRequest(() => client.register(hello, this.key?.secret), {
      clock,
      limitMs: ANSWER_MS,
      signal,
    })
    if (sent.kind === 'abandoned') return undefined
    if (sent.kind === 'failed') {
      this.#handleRefusal(sent.error)
      throw sent.error
    }
    const { leaseTtlMs, heartbeatMs, lost } = sent.answer
    const key = this.#accept(sent.answer)
    requireUsableLease(leaseTtlMs, heartbeatMs)
    if (attemptTable.abandoned().length > abandoned.length) {
      throw new Error(
        'the lease expired during the registration: the listed attempts are not held any more',
      )
    }
    lease.renew(sentMono, leaseTtlMs)
    dropLost(lost, held, attemptTable)
    attemptTable.clearReportedLosses()
    return createSessionRegistration(
      { key, registration: this.registration, leaseTtlMs, heartbeatMs },
      this.#deps.onSessionEnd,
    )
  }

  #hello(held: LeasedAttempt[], abandoned: readonly LeasedAttempt[]): Hello {
    const stopped = [...this.#deps.attemptTable.dropped(), ...abandoned]
    return {
      ...this.#deps.offer(),
      protocol: PROTOCOLS,
      ...(this.key && { session: this.key.id }),
      registration: this.registration,
      held,
      forsaken: stopped.slice(-LIMITS.slots),
    }
  }

  #accept({ session, secret, worker }: Welcome): SessionKey {
    // Only the first answer contains the secret.
    const key = { id: session, secret: secret ?? this.key?.secret }
    this.key = key
    this.worker = worker
    this.#supersededInARow = 0
    return key
  }

  #handleRefusal(error: unknown): void {
    if (this.key === undefined) return
    this.#supersededInARow = isSuperseded(error) ? this.#supersededInARow + 1 : 0
    if (isSessionUnknown(error) || this.#supersededInARow >= MAX_SUPERSEDED) this.#startOver()
  }

  /**
   * The server does not accept the session any more: its attempts are lost, and a new session
   * begins.
   */
  #startOver(): void {
    this.#deps.attemptTable.abandonRunning()
    this.key = undefined
    this.#supersededInARow = 0
  }
}

function requireUsableLease(leaseTtlMs: number, heartbeatMs: number): void {
  if (heartbeatMs > 0 && leaseSpanMs(leaseTtlMs) > heartbeatMs) return
  const times = `${leaseTtlMs} ms with heartbeats every ${heartbeatMs} ms`
  throw new Error(`the server's lease of ${times} is too short to keep`)
}
