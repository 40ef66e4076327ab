import { LIMITS } from '../limits.ts'
import { parseSize, writeSize } from '../text/size.ts'
import { METHODS, type Method, refuseHeader, refuseUrl } from './web-request.ts'
import { checkText, workFieldError } from './check-text.ts'

/** An HTTP request to send, as it is stored and sent to a worker. */
export interface HttpWork {
  readonly executor: 'http'
  readonly url: string
  readonly method: Method
  readonly headers?: Readonly<Record<string, string>>
  /** Without it, a request that may have a body carries the input of the run. */
  readonly body?: string
  /** Statuses that count as success, such as `200-299,304`. */
  readonly expect?: string
  readonly max_response_bytes?: number
  readonly redirects?: number
}

/** A request as users write it. */
export interface HttpInput {
  readonly url: string
  readonly method?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | undefined
  /** The body as a JSON value; sets the content type. */
  readonly json?: unknown
  readonly expect?: string | undefined
  readonly max_response?: string | undefined
  readonly redirects?: number | undefined
}

export const EXPECTED_STATUS = '200-299'

export function readHttp(input: HttpInput, at: string): HttpWork {
  const { url, expect, max_response: maxResponse, redirects } = input
  const { body, headers } = bodyOf(input, at)
  const problem = url.length > LIMITS.urlLength ? 'is too long' : refuseUrl(url)
  if (problem !== undefined) throw workFieldError(`${at}url`, problem)
  const method = methodOf(input.method ?? (body === undefined ? 'GET' : 'POST'), `${at}method`)
  if (body !== undefined && !mayHaveBody(method)) {
    throw workFieldError(`${at}body`, `cannot go with ${method}: such a request has no body`)
  }
  if (expect !== undefined) readExpected(expect, `${at}expect`)
  return {
    executor: 'http',
    url,
    method,
    ...(headers === undefined ? {} : { headers: headersOf(headers, `${at}headers`) }),
    ...(body === undefined ? {} : { body: checkText(body, `${at}body`) }),
    ...(expect === undefined ? {} : { expect }),
    ...(maxResponse === undefined
      ? {}
      : { max_response_bytes: responseBytes(maxResponse, `${at}max_response`) }),
    ...(redirects === undefined ? {} : { redirects }),
  }
}

/** The stored body is text; `json` is another way to write it. */
function bodyOf({ body, json, headers }: HttpInput, at: string) {
  if (json === undefined) return { body, headers }
  if (body !== undefined)
    throw workFieldError(`${at}json`, `cannot be used with ${at}body: choose one`)
  const names = Object.keys(headers ?? {}).map((name) => name.toLowerCase())
  const hasContentType = names.includes('content-type')
  const sentHeaders = hasContentType ? headers : { ...headers, 'Content-Type': 'application/json' }
  return { body: JSON.stringify(json), headers: sentHeaders }
}

export function writeHttp({
  executor: _,
  max_response_bytes: maxResponse,
  ...same
}: HttpWork): HttpInput {
  return { ...same, ...(maxResponse === undefined ? {} : { max_response: writeSize(maxResponse) }) }
}

export function mayHaveBody(method: Method): boolean {
  return method === 'POST' || method === 'PUT' || method === 'PATCH' || method === 'DELETE'
}

const STATUS = /^([1-5]\d\d)(?:-([1-5]\d\d))?$/

/** Reads `200`, `200-299` and lists of them. */
export function readExpected(expect: string, field = 'expect'): (status: number) => boolean {
  const ranges = expect.split(',').map((part): [from: number, to: number] => {
    const [, from, to = from] = STATUS.exec(part.trim()) ?? []
    if (from === undefined || Number(to) < Number(from)) {
      throw workFieldError(field, 'must be statuses such as 200, 200-299 or 200-299,304')
    }
    return [Number(from), Number(to)]
  })
  return (status) => ranges.some(([from, to]) => status >= from && status <= to)
}

function methodOf(name: string, field: string): Method {
  const method = METHODS.find((known) => known === name.toUpperCase())
  if (method !== undefined) return method
  throw workFieldError(field, `must be one of ${METHODS.join(', ')}`)
}

function headersOf(headers: Readonly<Record<string, string>>, field: string) {
  const seen = new Set<string>()
  for (const [name, value] of Object.entries(headers)) {
    const at = `${field}.${name}`
    const key = name.toLowerCase()
    const problem = key.startsWith('punctual-')
      ? 'is set by Punctual itself'
      : refuseHeader(name, value)
    if (problem !== undefined) throw workFieldError(at, problem)
    if (seen.has(key)) throw workFieldError(at, 'is given twice')
    seen.add(key)
  }
  return headers
}

function responseBytes(size: string, field: string): number {
  const bytes = parseSize(size, field)
  if (bytes >= 1 && bytes <= LIMITS.responseBytes) return bytes
  throw workFieldError(field, `must be 1B to ${writeSize(LIMITS.responseBytes)}`)
}
