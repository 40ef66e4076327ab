import type { Hello, Working } from '../../core/wire/protocol.ts'
import type { Clock } from '../../core/clock.ts'
import { LIMITS } from '../../core/limits.ts'
import type { Book } from '../attempts/attempt-table.ts'
import { loseListed } from '../heartbeat/heartbeat-loop.ts'
import { leaseSpanMs, type Lease } from '../heartbeat/lease.ts'
import type { WorkerSettings } from './worker-options.ts'
import { send } from '../requests/send-request.ts'
import { createSession, type Session } from '../requests/session-registration.ts'

/** What a registration may take; the server looks into its store for the attempts listed. */
const ANSWER_MS = 5_000

export interface Registrar {
  /** The session id once there is one, and the number of the last registration sent. */
  readonly session: string | undefined
  readonly registration: number
  /** Tries once. Throws what the server or the network said; `undefined` when the signal aborted. */
  register(signal: AbortSignal): Promise<Session | undefined>
}

export function createRegistrar(deps: {
  client: Working
  clock: Clock
  /** What it offers, once everything it needs for that has started. */
  offer(): WorkerSettings['offer'] & Pick<Hello, 'users' | 'execution'>
  book: Book
  lease: Lease
  onSessionEnd(why: string): void
}): Registrar {
  const { client, clock, book, lease } = deps
  let session: string | undefined
  let registration = 0

  return {
    get session() {
      return session
    },
    get registration() {
      return registration
    },

    async register(signal) {
      // A new number for every try: an earlier one may have arrived, and only its answer got lost.
      // Without a session there is nothing to come back to, and every try is a first one.
      registration = session === undefined ? 1 : registration + 1
      // Attempts that outlived their lease are stopped now, not carried into the next.
      lease.isKept()
      const held = book.held()
      const forsaken = [...book.forsaken()]
      const sentMono = clock.mono()
      const known = session === undefined ? {} : { session }
      const stopped = [...book.disowned(), ...forsaken].slice(-LIMITS.slots)
      const hello = { ...deps.offer(), ...known, registration, held, forsaken: stopped }
      const sent = await send(() => client.register(hello), { clock, limitMs: ANSWER_MS, signal })
      if (sent.kind === 'abandoned') return undefined
      if (sent.kind === 'failed') throw sent.error

      const { leaseTtlMs, heartbeatMs, lost } = sent.answer
      session = sent.answer.session
      if (!(heartbeatMs > 0 && leaseSpanMs(leaseTtlMs) > heartbeatMs)) {
        const times = `${leaseTtlMs} ms with heartbeats every ${heartbeatMs} ms`
        throw new Error(`the server's lease of ${times} is too short to keep`)
      }
      if (book.forsaken().length > forsaken.length) {
        throw new Error('the lease ran out while registering: what was listed is not held any more')
      }
      lease.renew(sentMono, leaseTtlMs)
      loseListed(lost, held, book)
      book.confess()
      return createSession(
        { id: session, registration, leaseTtlMs, heartbeatMs },
        deps.onSessionEnd,
      )
    },
  }
}
