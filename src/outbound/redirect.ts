import { refuseUrl } from '../core/work/web-request.ts'
import { OutboundError } from './outbound-error.ts'

/** One of the requests that a call with redirects consists of. */
export interface Hop {
  readonly url: URL
  readonly method: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer | null
}

const REDIRECTS = new Set([301, 302, 303, 307, 308])

/** Headers that may be sent to another origin. Any other header could contain a secret. */
const SAFE_HEADERS = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'content-type',
  'user-agent',
])

/** The next request of a redirect, if the answer is one. */
export function redirectOf(hop: Hop, status: number, location: unknown): Hop | undefined {
  if (!REDIRECTS.has(status) || typeof location !== 'string') return undefined
  const problem = URL.canParse(location, hop.url.href)
    ? refuseUrl(new URL(location, hop.url).href)
    : 'is not a URL'
  if (problem !== undefined) {
    throw new OutboundError('redirect_refused', `${hop.url.host} redirects to what ${problem}`)
  }
  const url = new URL(location, hop.url)
  if (hop.url.protocol === 'https:' && url.protocol === 'http:') {
    throw new OutboundError('redirect_refused', `${hop.url.host} redirects from https to http`)
  }
  const becomesGet = status === 303 ? hop.method !== 'HEAD' : status < 303 && hop.method === 'POST'
  const isOtherOrigin = url.origin !== hop.url.origin
  const body = becomesGet ? null : hop.body
  // A body may contain a secret as well, and no part of it is known to be harmless.
  if (isOtherOrigin && body !== null && body.length > 0) {
    const message = `${hop.url.host} redirects to ${url.host}, where the body of the request is not sent`
    throw new OutboundError('redirect_refused', message)
  }
  const headers = Object.entries(hop.headers).filter(([name]) => {
    if (becomesGet && name.startsWith('content-')) return false
    return !isOtherOrigin || SAFE_HEADERS.has(name)
  })
  return {
    url,
    method: becomesGet ? 'GET' : hop.method,
    headers: Object.fromEntries(headers),
    body,
  }
}
