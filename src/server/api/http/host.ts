import type { FastifyRequest } from 'fastify'
import { PunctualError } from '../../../core/errors.ts'
import type { Api } from './api.ts'

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]']
const PORT = /:\d{1,5}$/
const MOST_SEEN = 100

/**
 * Accepts only requests for names of this server, and only from pages it served itself. A web page
 * can point its own domain at 127.0.0.1 and let the visitor's browser call this server; the Host
 * header still has the foreign name. It can also call the server by its real name; then the browser
 * states the origin of the page in Origin and Sec-Fetch-Site.
 */
export function guardHost(api: Api, allowHosts: readonly string[]): void {
  const allowed = new Set([...LOOPBACK, ...allowHosts.map((host) => host.toLowerCase())])
  // Keyed by the raw header, so that a repeated valid one is parsed once.
  const seen = new Set<string>()
  const isAllowed = (host: string) => {
    if (seen.has(host)) return true
    if (!allowed.has(nameOf(host))) return false
    if (seen.size < MOST_SEEN) seen.add(host)
    return true
  }

  api.addHook('onRequest', (request, _reply, next) => {
    if (countHosts(request.raw.rawHeaders) !== 1) {
      return next(new PunctualError('invalid_request', 'a request names exactly one Host'))
    }
    const { host = '', origin } = request.headers
    if (!isAllowed(host)) {
      const message = `this server is not known as "${shown(nameOf(host))}"`
      return next(new PunctualError('host_not_allowed', message))
    }
    if (isForeign(origin, host) || isForeignFetch(request)) {
      const message = `pages of "${shown(origin ?? 'another site')}" may not call this server`
      return next(new PunctualError('origin_not_allowed', message))
    }
    next()
  })
}

function nameOf(host: string): string {
  return host.toLowerCase().replace(PORT, '')
}

/** With two Host headers, a proxy may have used the other one. */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count
}

function isForeign(origin: string | undefined, host: string): boolean {
  if (origin === undefined) return false
  return !URL.canParse(origin) || new URL(origin).host !== host.toLowerCase()
}

/** Following a link from another site is fine: that page cannot see the answer. */
function isForeignFetch({ method, headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site']
  const isLink = method === 'GET' && headers['sec-fetch-mode'] === 'navigate'
  return !isLink && (site === 'cross-site' || site === 'same-site')
}

function shown(host: string): string {
  return host.length > 64 ? `${host.slice(0, 64)}…` : host
}
