import { heartbeatLoop, type HeartbeatDeps } from '../heartbeat/heartbeat-loop.ts'
import { logShippingLoop } from '../output/log-shipping-loop.ts'
import { backOffMs } from '../requests/back-off.ts'
import { isPermanentRefusal } from '../requests/refusal.ts'
import type { SessionRegistration } from '../requests/session-registration.ts'
import { type ExchangeDeps, exchangeLoop } from './exchange-loop.ts'
import type { Registrar } from './registrar.ts'
import type { SessionExecutors } from './session-executors.ts'

export interface RegistrationDeps extends ExchangeDeps, Omit<HeartbeatDeps, 'heartbeatThread'> {
  readonly registrar: Registrar
  readonly executors: SessionExecutors
  /** The worker has stopped for good. */
  readonly closed: AbortSignal
  onRegistered(session: SessionRegistration): void
  /** The server does not accept the worker, and never has. */
  onRefused(error: unknown): Promise<void>
}

/** Registers the worker again and again until it stops, and serves each registration. */
export async function registrationLoop(deps: RegistrationDeps): Promise<void> {
  const { clock, random, reporter, registrar, executors, closed } = deps
  let wasRegistered = false
  for (let failures = 0; !closed.aborted; failures += 1) {
    if (failures > 0) await clock.sleep(backOffMs(failures, random), closed)
    try {
      const session = await registrar.register(closed)
      if (session === undefined) return
      // An executor became available while the registration was in flight.
      if (executors.hasMoreToOffer()) {
        session.end('there is more to offer')
        failures = -1
        continue
      }
      wasRegistered = true
      deps.onRegistered(session)
      await serve(session, deps)
      // A session that exchanged messages may be replaced at once; otherwise back off.
      if (session.answered > 0) failures = -1
    } catch (error) {
      reporter.error(error)
      if (wasRegistered || !isPermanentRefusal(error)) continue
      return deps.onRefused(error)
    }
  }
}

/** Runs the loops of one registration until it ends. */
async function serve(session: SessionRegistration, deps: RegistrationDeps): Promise<void> {
  const { outputBuffer, heartbeatThread } = deps.executors
  const loops = [exchangeLoop(session, deps), heartbeatLoop(session, { ...deps, heartbeatThread })]
  if (outputBuffer) loops.push(logShippingLoop(session, { ...deps, outputBuffer }))
  // A loop that fails ends the others; all have ended before the next registration begins.
  const ends = loops.map((loop) => loop.finally(() => session.end('a loop failed')))
  session.signal.addEventListener('abort', () => heartbeatThread?.pause())
  for (const end of await Promise.allSettled(ends)) {
    if (end.status === 'rejected') throw end.reason
  }
}
