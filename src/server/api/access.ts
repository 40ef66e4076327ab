import { timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { PunctualError } from '../../core/errors.ts'
import { NAME } from '../../core/limits.ts'
import type { Api } from './api.ts'

/** Refuses routes that do not say who may use them, and requests that may not use a route. */
export function guardAccess(api: Api, { adminToken }: { readonly adminToken: string }): void {
  if (adminToken === '') throw new PunctualError('config_invalid', 'the admin token is empty')
  if (!TOKEN.test(adminToken)) {
    const message = `the admin token must be up to ${LONGEST} visible ASCII characters`
    throw new PunctualError('config_invalid', message)
  }
  const expected = evened(adminToken)

  api.addHook('onRoute', ({ method, url, config }) => {
    const access: string | undefined = config?.access
    if (access === 'public' || access === 'admin') return
    throw new Error(`${String(method)} ${url} does not declare its access`)
  })

  api.addHook('onRequest', (request, reply, next) => {
    if (isPublic(request) || timingSafeEqual(evened(bearerToken(request)), expected)) {
      next()
      return
    }
    void reply.header('www-authenticate', 'Bearer')
    next(new PunctualError('unauthorized', 'the token is missing or wrong'))
  })
}

/** Unknown paths declare nothing, so they are not public either: a stranger learns no routes. */
function isPublic(request: FastifyRequest): boolean {
  return request.routeOptions.config.access === 'public'
}

const LONGEST = 512
const TOKEN = new RegExp(`^[\\x21-\\x7e]{1,${LONGEST}}$`)
const BEARER = /^Bearer +(\S+)$/i

/** Filled up to one length, so that comparing takes the same time whatever was sent. */
function evened(token: string): Buffer {
  const bytes = Buffer.alloc(LONGEST)
  bytes.write(token, 'latin1')
  return bytes
}

function bearerToken(request: FastifyRequest): string {
  const token = BEARER.exec(request.headers.authorization ?? '')?.[1] ?? ''
  return TOKEN.test(token) ? token : ''
}

/** The project a request is about. What cannot be a name is refused before anyone looks it up. */
export function projectOf(request: FastifyRequest): string {
  const project = request.headers['punctual-project'] ?? 'default'
  if (typeof project === 'string' && NAME.test(project)) return project
  throw new PunctualError('invalid_request', 'the header Punctual-Project is not a project name', {
    field: 'Punctual-Project',
  })
}
