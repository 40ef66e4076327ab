import { createLastRun, type LastRun } from './last-run.ts'
import { followEvents, type ServerEvent } from './event-stream.ts'
import { createNodeRequests, readAnswer } from './node-requests.ts'
import type { ServerAddress } from './server-address.ts'

/** Requests to the server with the wire types of the API, which commands print as they are. */
export interface ServerCalls {
  readonly url: string
  /** Commands that submit a run store it here for `@last`. */
  readonly lastRun: LastRun
  call<T>(method: string, path: string, body?: unknown, options?: CallOptions): Promise<T>
  /** The server's readiness and its clock. Needs no token. */
  health(): Promise<ServerHealth>
  /** A server-sent event stream, resumed after connection failures. */
  events(path: string, signal: AbortSignal): AsyncGenerator<ServerEvent>
  /** The body as a stream of bytes. */
  stream(path: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
}

export interface ServerHealth {
  readonly isReady: boolean
  readonly reason: string
  readonly at: number | null
  /** What is on hold because the node's wall clock is not trusted. */
  readonly clock: { readonly held: boolean; readonly reason: string } | null
}

export interface CallOptions {
  /** The request changes nothing, even if its method is not GET. */
  readonly isRead?: boolean
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export interface ServerCallsOptions {
  readonly project?: string | undefined
  readonly stateDirectory?: string | undefined
  sleep(ms: number): Promise<void>
  /** Called when the server has answered a request that changes something. */
  onChange?(url: string, isDone: boolean): void
}

export function createServerCalls(
  address: ServerAddress,
  options: ServerCallsOptions,
): ServerCalls {
  const { project = '', stateDirectory } = options
  const requests = createNodeRequests(address, options)
  return {
    get url() {
      return requests.url
    },
    lastRun: createLastRun(stateDirectory, address.urls[0] ?? '', project),

    async call(method, path, body, { headers = {}, signal, isRead } = {}) {
      const answer = await requests.send(method, path, {
        ...(isRead === undefined ? {} : { isRead }),
        ...(signal ? { signal } : {}),
        headers: {
          ...headers,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return readAnswer(await answer.text(), requests.url) as never
    },

    async health() {
      const answer = await requests.reach('/readyz', {})
      const date = answer.headers.get('date')
      const body = readAnswer<Partial<ServerHealth>>(await answer.text(), requests.url)
      const { reason = '', clock = null } = body ?? {}
      return { isReady: answer.ok, reason, at: date === null ? null : Date.parse(date), clock }
    },

    events: (path, signal) => followEvents(requests, path, { signal, sleep: options.sleep }),

    async stream(path, signal) {
      const answer = await requests.send('GET', path, { signal })
      return (answer.body ?? []) as AsyncIterable<Uint8Array>
    },
  }
}
