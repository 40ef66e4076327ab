import { hash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { PunctualError } from '../../core/errors.ts'
import { NAME } from '../../core/limits.ts'
import type { Api } from './api.ts'

/** Refuses routes that do not say who may use them, and requests that may not use a route. */
export function guardAccess(api: Api, { adminToken }: { readonly adminToken: string }): void {
  if (adminToken === '') throw new PunctualError('config_invalid', 'the admin token is empty')
  const expected = digest(adminToken)

  api.addHook('onRoute', ({ method, url, config }) => {
    const access: string | undefined = config?.access
    if (access === 'public' || access === 'admin') return
    throw new Error(`${String(method)} ${url} does not declare its access`)
  })

  api.addHook('onRequest', (request, reply, next) => {
    if (isPublic(request) || timingSafeEqual(digest(bearerToken(request)), expected)) {
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

/** Equal lengths and an even time, whatever was sent. */
function digest(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

const BEARER = /^Bearer +([\x21-\x7e]{1,512})$/i

function bearerToken(request: FastifyRequest): string {
  return BEARER.exec(request.headers.authorization ?? '')?.[1] ?? ''
}

/** The project a request is about. What cannot be a name is refused before anyone looks it up. */
export function projectOf(request: FastifyRequest): string {
  const project = request.headers['punctual-project'] ?? 'default'
  if (typeof project === 'string' && NAME.test(project)) return project
  throw new PunctualError('invalid_request', 'the header Punctual-Project is not a project name', {
    field: 'Punctual-Project',
  })
}
