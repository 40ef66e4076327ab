import { Agent, type Dispatcher } from 'undici'
import type { Clock, Random } from '../core/clock.ts'
import { CallError, errorOfAnswer, errorOfConnection } from './call-error.ts'

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly body?: string
  readonly idempotencyKey?: string | undefined
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number
  /** Doing it twice is the same as doing it once. */
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
  /** What stands before every path, without a slash at its end. */
  readonly base: string
}

export interface Transport {
  call(call: Call): Promise<unknown>
  /** Where a call would go and with what headers, if it needs nothing else than that. */
  readonly plain:
    | {
        urlsOf(path: string): string[]
        readonly headers: Readonly<Record<string, string>>
      }
    | undefined
  close(): Promise<void>
}

const TIMEOUT_MS = 30_000
const ROUNDS = 4
const FIRST_PAUSE_MS = 100
const CONNECTIONS = 64

/** Carries calls to one of several servers, and decides which failures deserve another try. */
export function createTransport(options: TransportOptions): Transport {
  const { headers, clock, random } = options
  // Once: every look at a part of a URL takes it apart anew.
  const servers = options.urls.map(({ origin, pathname }) => ({
    origin,
    base: pathname.replace(/\/$/, ''),
  }))
  const headersWithBody = { ...headers, 'content-type': 'application/json' }
  const dispatcher = options.dispatcher ?? new Agent({ connections: CONNECTIONS })
  const headersOf = ({ body, idempotencyKey }: Call) => {
    const common = body === undefined ? headers : headersWithBody
    return idempotencyKey === undefined ? common : { ...common, 'idempotency-key': idempotencyKey }
  }
  let current = 0

  const once = async (server: Server, call: Call): Promise<unknown> => {
    const { status, text, retryAfter } = await send(server, call)
    const value = text === '' ? undefined : parseJson(text)
    if (status < 300 && value !== NOT_JSON) return value
    throw errorOfAnswer(status, value, retryAfter)
  }

  const send = async ({ origin, base }: Server, call: Call) => {
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
      // A caller who gave up hears that, not a story about connections.
      signal?.throwIfAborted()
      throw errorOfConnection(error, origin)
    }
  }

  return {
    plain: options.dispatcher
      ? undefined
      : {
          urlsOf: (path) => servers.map(({ origin, base }) => origin + base + path),
          headers: headersWithBody,
        },
    async call(call) {
      let mayHaveActed = false
      for (let tries = 1; ; tries += 1) {
        const asked = current
        try {
          return await once(servers[asked] as Server, call)
        } catch (error) {
          if (!(error instanceof CallError)) throw error
          // Several calls fail together when a server goes; only the first of them moves on.
          if (isAboutServer(error) && current === asked) current = (asked + 1) % servers.length
          mayHaveActed ||= error.outcome === 'unknown'
          if (!deservesAnother(error, call, tries, servers.length)) {
            // That the last try did nothing says nothing about the tries before it.
            throw mayHaveActed && error.status === 503 ? error.asUnknown() : error
          }
          if (current !== asked && tries % servers.length !== 0) continue
          await clock.sleep(pauseMs(error, tries / servers.length, random), call.signal)
        }
      }
    },
    async close() {
      // A dispatcher that was lent may serve others.
      if (!options.dispatcher) await dispatcher.close()
    },
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

/** The server is away, going or cut off: another one may do better. */
function isAboutServer({ code }: CallError): boolean {
  return code === 'server_unreachable' || code === 'node_stopping' || code === 'node_cannot_renew'
}

/** Once around the servers if nothing was done yet; several rounds if repeating is harmless. */
function deservesAnother(error: CallError, call: Call, tries: number, servers: number): boolean {
  if (call.mayRepeat) return error.status === 503 && tries < ROUNDS * servers
  return error.outcome === 'refused' && isAboutServer(error) && tries < servers
}

/** At least what the server asked for; spread, so that clients do not come back as one. */
function pauseMs(error: CallError, round: number, random: Random): number {
  const backOff = FIRST_PAUSE_MS * 2 ** Math.floor(round - 1)
  return Math.max(error.retryAfterMs, backOff) * (1 + random() / 2)
}
