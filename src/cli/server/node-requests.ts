import { ConnectionError, createFetchTransport } from '../../client/fetch-transport.ts'
import { isProblem } from '../../client/problem.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure, failureOf } from '../errors/failure.ts'
import { unreachable } from '../errors/unreachable.ts'
import type { ServerAddress } from './server-address.ts'

/** HTTP requests to one of the nodes of a server, whose failures are for the user. */
export interface NodeRequests {
  /** The node in use. */
  readonly url: string
  /** Resolves with any answer; tries the next node while nothing listens at the previous one. */
  reach(path: string, init: RequestInit): Promise<Response>
  /** Resolves with a successful answer; throws the failure that the server reports. */
  send(method: string, path: string, options: NodeRequestOptions): Promise<Response>
}

export interface NodeRequestOptions extends RequestInit {
  /** The request changes nothing, even if its method is not GET. */
  readonly isRead?: boolean
}

interface NodeRequestsOptions {
  readonly project?: string | undefined
  /** Called when the server has answered a request that changes something. */
  onChange?(url: string, isDone: boolean): void
}

export function createNodeRequests(
  { urls, token }: ServerAddress,
  options: NodeRequestsOptions,
): NodeRequests {
  const transport = createFetchTransport(urls)
  const common = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(options.project === undefined ? {} : { 'punctual-project': options.project }),
  }

  const reach = async (path: string, init: RequestInit): Promise<Response> => {
    try {
      return await transport.request(path, init)
    } catch (error) {
      throw error instanceof ConnectionError ? unreachable(error.url, error.cause) : error
    }
  }

  return {
    get url() {
      return transport.url
    },
    reach,
    async send(method, path, { isRead = method === 'GET', ...init }) {
      const answer = await reach(path, { ...init, method, headers: { ...common, ...init.headers } })
      const { url } = transport
      if (!isRead) options.onChange?.(url, answer.ok)
      if (answer.ok) return answer
      const problem = readAnswer(await answer.text(), url)
      if (!isProblem(problem)) throw notPunctual(url)
      const isRefusedToken = problem.code === 'unauthorized'
      const detail = isRefusedToken ? refusedToken(url, token) : problem.detail
      throw failureOf({ ...problem, detail })
    },
  }
}

/** Parses an answer; `undefined` if it is empty. */
export function readAnswer<T>(text: string, url: string): T | undefined {
  if (text === '') return undefined
  try {
    return JSON.parse(text) as T
  } catch (error) {
    throw notPunctual(url, error)
  }
}

function refusedToken(url: string, token: string | undefined): string {
  if (token === undefined) return `${url} requires a token, and none was given or found here`
  return `${url} does not accept this token: it is revoked, has expired or is of another server`
}

function notPunctual(url: string, cause?: unknown): Failure {
  return new Failure(`the server at ${url} is not Punctual`, {
    exitCode: EXIT.unreachable,
    hint: 'Check the address given with --server or PUNCTUAL_SERVER.',
    cause,
  })
}
