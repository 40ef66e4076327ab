import { Client } from 'undici'
import type { Clock } from '../core/clock.ts'
import { refuseHeader, refuseUrl } from '../core/work/web-request.ts'
import { type AllowList, NOTHING_ALLOWED } from './allow-list.ts'
import { type Guard, guardedConnector, type Resolve, systemResolve } from './guarded-connector.ts'
import { OutboundError } from './outbound-error.ts'
import { type Hop, redirectOf } from './redirect.ts'

/** Sends requests to URLs chosen by users, and only to permitted destinations. */
export interface Outbound {
  /** Resolves with any status that the server returned; rejects with an `OutboundError`. */
  send(request: OutboundRequest): Promise<OutboundAnswer>
}

export interface OutboundRequest {
  readonly url: string
  readonly method?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | Buffer | undefined
  /** The limit for everything: lookup, connections, redirects and the body. */
  readonly timeoutMs?: number | undefined
  readonly maxResponseBytes?: number | undefined
  /** With 0, a redirect is returned like any other answer. */
  readonly maxRedirects?: number | undefined
  readonly signal?: AbortSignal | undefined
}

export interface OutboundAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
  /** The answer was longer than `maxResponseBytes`. */
  readonly truncated: boolean
  readonly finalUrl: string
}

export const OUTBOUND_DEFAULTS = {
  timeoutMs: 30_000,
  maxResponseBytes: 1024 * 1024,
  maxRedirects: 3,
} as const

export function createOutbound(options: {
  readonly clock: Pick<Clock, 'sleep'>
  readonly allow?: AllowList | undefined
  readonly resolve?: Resolve | undefined
  readonly ca?: string | undefined
}): Outbound {
  const { clock, allow = NOTHING_ALLOWED, resolve = systemResolve, ca } = options
  return {
    async send(request) {
      const { signal, timeoutMs = OUTBOUND_DEFAULTS.timeoutMs } = request
      const first = firstHop(request)
      const finished = new AbortController()
      const stop = new AbortController()
      const abort = () => stop.abort(new OutboundError('aborted', 'the request was given up'))
      if (signal?.aborted) abort()
      signal?.addEventListener('abort', abort, { once: true, signal: finished.signal })
      void clock.sleep(timeoutMs, finished.signal).then(() => {
        stop.abort(new OutboundError('timed_out', `no answer within ${timeoutMs / 1000} s`))
      })
      try {
        return await follow(first, request, { guard: { allow, resolve, ca }, signal: stop.signal })
      } finally {
        finished.abort()
      }
    },
  }
}

interface RequestDeps {
  readonly guard: Guard
  readonly signal: AbortSignal
}

function firstHop({ url, method = 'GET', headers = {}, body }: OutboundRequest): Hop {
  const problem = refuseUrl(url)
  if (problem !== undefined) throw new OutboundError('url_refused', `the address ${problem}`)
  const known: Record<string, string> = { ...DEFAULT_HEADERS }
  for (const [name, value] of Object.entries(headers)) {
    const fault = refuseHeader(name, value)
    if (fault !== undefined)
      throw new OutboundError('header_refused', `the header ${name} ${fault}`)
    known[name.toLowerCase()] = value
  }
  return { url: new URL(url), method, headers: known, body: body ?? null }
}

/** An uncompressed answer can be cut, shown and read directly. */
const DEFAULT_HEADERS = { 'user-agent': 'punctual', 'accept-encoding': 'identity' }

async function follow(
  first: Hop,
  request: OutboundRequest,
  deps: RequestDeps,
): Promise<OutboundAnswer> {
  const {
    maxRedirects = OUTBOUND_DEFAULTS.maxRedirects,
    maxResponseBytes = OUTBOUND_DEFAULTS.maxResponseBytes,
  } = request
  let hop = first
  for (let redirects = 0; ; redirects += 1) {
    const answer = await sendOnce(hop, maxResponseBytes, deps)
    const next = maxRedirects > 0 && redirectOf(hop, answer.status, answer.headers['location'])
    if (!next) return answer
    if (redirects === maxRedirects) {
      const message = `${first.url.host} redirects more than ${maxRedirects} times`
      throw new OutboundError('redirect_refused', message)
    }
    hop = next
  }
}

/** Uses a new connection for every request, so that every destination is checked. */
async function sendOnce(
  { url, method, headers, body }: Hop,
  maxBytes: number,
  { guard, signal }: RequestDeps,
): Promise<OutboundAnswer> {
  const client = new Client(url.origin, { connect: guardedConnector(guard, signal), pipelining: 0 })
  try {
    const answer = await client.request({
      path: url.pathname + url.search,
      method,
      headers,
      body,
      signal,
      // The deadline of the whole call is the only one.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    const read = await readAtMost(answer.body, maxBytes)
    return { status: answer.statusCode, headers: answer.headers, ...read, finalUrl: url.href }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw error instanceof OutboundError ? error : unreachable(url, error)
  } finally {
    await client.destroy()
  }
}

async function readAtMost(body: AsyncIterable<Buffer>, maxBytes: number) {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of body) {
    parts.push(part)
    bytes += part.length
    if (bytes > maxBytes) break
  }
  return { body: Buffer.concat(parts).subarray(0, maxBytes), truncated: bytes > maxBytes }
}

function unreachable(url: URL, error: unknown): OutboundError {
  const { code, message } = error as { code?: string; message?: string }
  const why = code ?? message ?? String(error)
  return new OutboundError('unreachable', `${url.host} does not answer: ${why}`, { cause: error })
}
