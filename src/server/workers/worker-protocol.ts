import type { WorkerClient } from '../../core/wire/protocol.ts'
import { exchange, type ExchangeContext } from './exchange.ts'
import { storeLogs, type LogContext } from './store-logs.ts'
import type { RequestOrigin, SessionRegistry } from './session-registry.ts'

/** The worker protocol for one caller: it reaches only sessions of its own. */
export function createWorking(
  origin: RequestOrigin,
  {
    registry,
    exchanging,
    logging,
  }: {
    readonly registry: SessionRegistry
    readonly exchanging: ExchangeContext
    readonly logging: LogContext
  },
): WorkerClient {
  return {
    register: (hello, secret) => registry.register(hello, origin, secret),
    exchange: async (key, message) =>
      exchange(registry.find(key, message.registration, origin), message, exchanging, origin),
    heartbeat: async (key, message) =>
      registry.heartbeat(registry.find(key, message.registration, origin), message),
    log: async (key, message) =>
      storeLogs(registry.find(key, message.registration, origin), message, logging),
    leave: async (key, registration) => registry.leave(registry.find(key, registration, origin)),
  }
}
