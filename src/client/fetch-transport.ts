import { connectionErrorIn, isNotConnected } from './connection-errors.ts'
import { createFailover, type FailurePolicy } from './failover.ts'

/**
 * Requests with `fetch`, for the command line. It loads faster than the transport for programs,
 * obeys NODE_USE_ENV_PROXY, and returns bodies as streams.
 */
export interface FetchTransport {
  /** The server in use. */
  readonly url: string
  /**
   * Resolves with any answer; tries the next server while there is no connection. Rejects with a
   * `ConnectionError` if no server answers, or with the reason of an aborted signal.
   */
  request(path: string, init: RequestInit): Promise<Response>
}

/** A server did not answer; `cause` is the error of `fetch`. */
export class ConnectionError extends Error {
  readonly url: string

  constructor(url: string, cause: unknown) {
    super(`${url} did not answer`, { cause })
    this.name = 'ConnectionError'
    this.url = url
  }
}

interface FetchCall {
  readonly path: string
  readonly init: RequestInit
}

export function createFetchTransport(urls: readonly string[]): FetchTransport {
  const failover = createFailover(urls, fetchFrom, createPolicy(urls.length))
  return {
    get url() {
      return failover.server
    },
    request: (path, init) => failover.call({ path, init }),
  }
}

async function fetchFrom(url: string, { path, init }: FetchCall): Promise<Response> {
  try {
    return await fetch(url + path, init)
  } catch (error) {
    // A caller that aborted gets its own abort reason, not a connection error.
    init.signal?.throwIfAborted()
    throw new ConnectionError(url, error)
  }
}

/** A request that may have been sent is not repeated, and its failure is reported at once. */
function createPolicy(servers: number): FailurePolicy<FetchCall, ConnectionError> {
  return {
    failureOf(error) {
      if (!(error instanceof ConnectionError)) return undefined
      return isNotConnected(connectionErrorIn(error.cause)) ? error : undefined
    },
    isAboutServer: () => true,
    mayRepeat: (_failure, _call, tries) => tries < servers,
  }
}
