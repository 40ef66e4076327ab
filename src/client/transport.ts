import { exponentialBackoffMs } from '../core/exponential-backoff.ts'
import { Agent, type Dispatcher } from 'undici'
import type { Clock, Random } from '../core/clock.ts'
import { CallError, errorOfAnswer, errorOfConnection } from './call-error.ts'
import { createFailover, type FailurePolicy } from './failover.ts'

export interface TransportCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly body?: string
  readonly idempotencyKey?: string | undefined
  /** Proves that the request comes from the owner of the session. */
  readonly sessionSecret?: string | undefined
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number
  /** Repeating the call has no further effect. */
  readonly mayRepeat: boolean
}

export interface TransportOptions {
  readonly urls: readonly URL[]
  readonly headers: Readonly<Record<string, string>>
  readonly dispatcher?: Dispatcher | undefined
  readonly clock: Pick<Clock, 'sleep'>
  readonly random: Random
}

interface Server {
  readonly origin: string
  /** The prefix of every path, without a trailing slash. */
  readonly base: string
}

export interface Transport {
  call(call: TransportCall): Promise<unknown>
  /** The URLs and headers of a simple call, for a thread that sends it by itself. */
  readonly requestParts:
    | {
        urlsOf(path: string): string[]
        readonly headers: Readonly<Record<string, string>>
      }
    | undefined
  close(): Promise<void>
}

export const SESSION_SECRET = 'punctual-session-secret'
const TIMEOUT_MS = 30_000
const ROUNDS = 4
const FIRST_PAUSE_MS = 100
const CONNECTIONS = 64

/** Sends calls to one of several servers, and decides which failures are retried. */
export function createTransport(options: TransportOptions): Transport {
  const { headers, clock, random } = options
  // Parsed once, because every access to a part of a URL parses it again.
  const servers = options.urls.map(({ origin, pathname }) => ({
    origin,
    base: pathname.replace(/\/$/, ''),
  }))
  const headersWithBody = { ...headers, 'content-type': 'application/json' }
  const dispatcher = options.dispatcher ?? new Agent({ connections: CONNECTIONS })
  const sendOnce = createSender(dispatcher, headers, headersWithBody)
  const failover = createFailover(servers, sendOnce, createPolicy(servers.length, clock, random))

  return {
    requestParts: options.dispatcher
      ? undefined
      : {
          urlsOf: (path) => servers.map(({ origin, base }) => origin + base + path),
          headers: headersWithBody,
        },
    call: failover.call,
    async close() {
      // A dispatcher from the caller may be used elsewhere.
      if (!options.dispatcher) await dispatcher.close()
    },
  }
}

/** Returns a function that sends one call to one server, and throws a `CallError` if it fails. */
function createSender(
  dispatcher: Dispatcher,
  headers: TransportOptions['headers'],
  headersWithBody: TransportOptions['headers'],
): (server: Server, call: TransportCall) => Promise<unknown> {
  const headersOf = ({ body, idempotencyKey, sessionSecret }: TransportCall) => {
    const common = body === undefined ? headers : headersWithBody
    if (sessionSecret !== undefined) return { ...common, [SESSION_SECRET]: sessionSecret }
    return idempotencyKey === undefined ? common : { ...common, 'idempotency-key': idempotencyKey }
  }

  const request = async ({ origin, base }: Server, call: TransportCall) => {
    const { method, path, body = null, signal, timeoutMs = TIMEOUT_MS } = call
    try {
      const answer = await dispatcher.request({
        origin,
        path: base + path,
        method,
        headers: headersOf(call),
        body,
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
        ...(signal ? { signal } : {}),
      })
      const retryAfter = answer.headers['retry-after']
      return {
        status: answer.statusCode,
        text: await answer.body.text(),
        retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
      }
    } catch (error) {
      // A caller that aborted gets its own abort reason, not a connection error.
      signal?.throwIfAborted()
      throw errorOfConnection(error, origin)
    }
  }

  return async (server, call) => {
    const { status, text, retryAfter } = await request(server, call)
    const value = text === '' ? undefined : parseJson(text)
    if (status < 300 && value !== NOT_JSON) return value
    throw errorOfAnswer(status, value, retryAfter)
  }
}

const NOT_JSON = Symbol('not JSON')

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return NOT_JSON
  }
}

function createPolicy(
  servers: number,
  clock: TransportOptions['clock'],
  random: Random,
): FailurePolicy<TransportCall, CallError> {
  return {
    failureOf(error, previous) {
      if (!(error instanceof CallError)) return undefined
      // This try may have done nothing, but an earlier one may have acted.
      const mayHaveActed = previous?.outcome === 'unknown'
      return mayHaveActed && error.status === 503 ? error.asUnknown() : error
    },
    isAboutServer,
    // Tries each server once if nothing was done yet; several rounds if repeating is harmless.
    mayRepeat(error, call, tries) {
      if (call.mayRepeat) return error.status === 503 && tries < ROUNDS * servers
      return error.outcome === 'refused' && isAboutServer(error) && tries < servers
    },
    pause: (error, { signal }, round) => clock.sleep(pauseMs(error, round, random), signal),
  }
}

/** The server is unavailable, stopping or disconnected: another one may work. */
function isAboutServer({ code }: CallError): boolean {
  return code === 'server_unreachable' || code === 'node_stopping' || code === 'node_cannot_renew'
}

/** At least what the server requested, with jitter so that clients do not return together. */
function pauseMs(error: CallError, round: number, random: Random): number {
  const backOff = exponentialBackoffMs(FIRST_PAUSE_MS, Math.floor(round))
  return Math.max(error.retryAfterMs, backOff) * (1 + random() / 2)
}
