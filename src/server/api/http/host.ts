import type { FastifyRequest } from 'fastify'
import { PunctualError } from '../../../core/errors.ts'
import type { Api } from './api.ts'

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]']
const PORT = /:\d{1,5}$/
const MOST_SEEN = 100

/**
 * Answers only to names this server is known by, and only to pages it served itself. A page on the
 * web can point a name of its own at 127.0.0.1 and let the visitor's browser call us; the Host
 * header still carries that foreign name. It can also call us by our own name; then the browser
 * says in Origin, and in Sec-Fetch-Site, whose page it is.
 */
export function guardHost(api: Api, allowHosts: readonly string[]): void {
  const allowed = new Set([...LOOPBACK, ...allowHosts.map((host) => host.toLowerCase())])
  // As they were written, so that what is right again and again is looked at once.
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

/** Of two, a proxy before us may have looked at the other one. */
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

/** Following a link from elsewhere is fine: that page does not get to see the answer. */
function isForeignFetch({ method, headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site']
  const isLink = method === 'GET' && headers['sec-fetch-mode'] === 'navigate'
  return !isLink && (site === 'cross-site' || site === 'same-site')
}

function shown(host: string): string {
  return host.length > 64 ? `${host.slice(0, 64)}…` : host
}
