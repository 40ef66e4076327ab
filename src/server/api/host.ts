import { PunctualError } from '../../core/errors.ts'
import type { Api } from './api.ts'

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]']
const PORT = /:\d{1,5}$/

/**
 * Answers only to names this server is known by. A page on the web can point a name of its own at
 * 127.0.0.1 and let the visitor's browser call us; the Host header still carries that foreign name.
 */
export function guardHost(api: Api, allowHosts: readonly string[]): void {
  const allowed = new Set([...LOOPBACK, ...allowHosts.map((host) => host.toLowerCase())])
  api.addHook('onRequest', (request, _reply, next) => {
    const host = (request.headers.host ?? '').toLowerCase().replace(PORT, '')
    if (allowed.has(host)) next()
    else next(new PunctualError('host_not_allowed', `this server is not known as "${shown(host)}"`))
  })
}

function shown(host: string): string {
  return host.length > 64 ? `${host.slice(0, 64)}…` : host
}
