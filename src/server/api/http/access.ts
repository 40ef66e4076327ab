import type { FastifyReply, FastifyRequest } from 'fastify'
import { PunctualError } from '../../../core/errors.ts'
import { NAME } from '../../../core/limits.ts'
import { hasPermission, PERMISSIONS, type Permission } from '../../../core/permission.ts'
import { type Caller, ROOT } from '../../identity/caller.ts'
import { createRateLimit } from '../../identity/rate-limit.ts'
import type { Api, ApiOptions } from './api.ts'

/** Requests per token: rate per second, and burst; wrong tokens per address. */
const PER_SECOND = 1_000
const BURST = 5_000
const WRONG_PER_SECOND = 5
const WRONG_BURST = 50

type AccessOptions = Pick<ApiOptions, 'identify' | 'isOpen' | 'clock'>

/** Refuses routes without a declared permission, and requests that may not use a route. */
export function guardAccess(api: Api, { identify, isOpen = false, clock }: AccessOptions): void {
  const rate = createRateLimit(PER_SECOND, BURST)
  const wrongRate = createRateLimit(WRONG_PER_SECOND, WRONG_BURST)
  // Set before any handler runs; public routes do not identify the caller.
  api.decorateRequest('caller', null as unknown as Caller)

  api.addHook('onRoute', ({ method, url, config }) => {
    const permission = config?.permission
    if (permission === 'public' || PERMISSIONS.some((known) => known === permission)) return
    throw new Error(`${String(method)} ${url} does not declare its permission`)
  })

  const admit = (caller: Caller | null, request: FastifyRequest, reply: FastifyReply) => {
    if (!caller) {
      const isGuess = request.headers.authorization !== undefined
      const waitS = isGuess ? wrongRate.take(request.ip, clock.mono()) : 0
      if (waitS > 0) throw tooFast(reply, waitS, 'this address has sent too many wrong tokens')
      void reply.header('www-authenticate', 'Bearer')
      throw new PunctualError('unauthorized', 'the token is missing or wrong')
    }
    const { permission, everywhere } = request.routeOptions.config
    // A fleet may share one token, and a refused worker would lose its leases.
    if (caller.tokenId !== null && permission !== 'work') {
      const waitS = rate.take(caller.tokenId, clock.mono())
      if (waitS > 0) throw tooFast(reply, waitS, 'this token is used too often')
    }
    request.caller = caller
    requireProjectName(request)
    requirePermission(request, permission as Permission)
    if (everywhere && caller.project !== null) {
      throw new PunctualError('forbidden', 'this token belongs to one project')
    }
  }

  api.addHook('onRequest', (request, reply, next) => {
    if (isPublic(request)) return next()
    const identified = identifyRequest(request, identify, isOpen)
    const finish = (caller: Caller | null) => {
      try {
        admit(caller, request, reply)
        next()
      } catch (error) {
        next(error as Error)
      }
    }
    // Not awaited unless necessary: this runs for every request.
    if (identified instanceof Promise) identified.then(finish, next)
    else finish(identified)
  })
}

/** The permission of a route may depend on the request body. */
export function requirePermission({ caller }: FastifyRequest, permission: Permission): void {
  // Without a declared permission nothing is allowed; unknown paths come here too.
  if (permission === undefined || hasPermission(caller.role, permission)) return
  const message = `the role ${caller.role} may not ${permission} here`
  throw new PunctualError('forbidden', message)
}

/** The current owner of the request's token; null if it is invalid. */
export function identifyRequest(
  request: FastifyRequest,
  identify: ApiOptions['identify'],
  isOpen: boolean,
): Caller | null | Promise<Caller | null> {
  const { authorization } = request.headers
  if (authorization === undefined) return isOpen ? ROOT : null
  const token = BEARER.exec(authorization)?.[1]
  return token === undefined ? null : identify(token)
}

/** Visible ASCII, and short enough for a quick digest. */
const BEARER = /^Bearer +([\x21-\x7e]{1,512})$/i

/**
 * Unknown paths declare nothing, so they are not public: an unauthenticated caller learns no
 * routes.
 */
function isPublic(request: FastifyRequest): boolean {
  return request.routeOptions.config.permission === 'public'
}

function tooFast(reply: FastifyReply, waitS: number, message: string): PunctualError {
  void reply.header('retry-after', waitS)
  return new PunctualError('rate_limited', message)
}

/**
 * The project of a request: that of the token. Only tokens of the installation may name one, and an
 * invalid name is refused before any lookup.
 */
export function projectOf(request: FastifyRequest): string {
  const named = requireProjectName(request)
  const own = request.caller.project
  if (own === null) return named ?? 'default'
  if (named === undefined || named === own) return own
  throw new PunctualError('forbidden', 'this token belongs to another project')
}

/** Also where the project makes no difference, because the caller meant it to make one. */
function requireProjectName({ headers }: FastifyRequest): string | undefined {
  const named = headers['punctual-project']
  if (named === undefined || (typeof named === 'string' && NAME.test(named))) return named
  const message = 'the header Punctual-Project is not a project name'
  throw new PunctualError('invalid_request', message, { field: 'Punctual-Project' })
}
