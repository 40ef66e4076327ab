import type { FastifyReply, FastifyRequest } from 'fastify'
import { PunctualError } from '../../../core/errors.ts'
import type { Api } from './api.ts'

/** Distinguishes an unknown path from a known one with another method. */
export function answerUnknownRoutes(api: Api): void {
  const routes: { readonly path: RegExp; readonly methods: readonly string[] }[] = []
  api.addHook('onRoute', ({ url, method }) => {
    routes.push({ path: patternOf(url), methods: [method].flat() })
  })
  const refusalOf = (request: FastifyRequest, reply: FastifyReply): PunctualError => {
    const path = request.url.split('?', 1)[0] as string
    const allowed = routes
      .filter((route) => route.path.test(path))
      .flatMap(({ methods }) => methods)
    if (allowed.length === 0) return new PunctualError('not_found', 'there is nothing at this path')
    const allow = allowed.join(', ')
    void reply.header('allow', allow)
    return new PunctualError(
      'method_not_allowed',
      `this path takes ${allow}, not ${request.method}`,
    )
  }
  api.setNotFoundHandler((request, reply) => {
    throw refusalOf(request, reply)
  })
  // Before the body and the parameters are checked: neither is the error.
  api.addHook('onRequest', (request, reply, next) => {
    if (!request.is404) return next()
    next(refusalOf(request, reply))
  })
}

/** `/v1/runs/:id` takes any one segment for `:id`; `::` is an escaped colon. */
function patternOf(url: string): RegExp {
  const pattern = url
    .split('/')
    .map((part) =>
      /^:[^:]/.test(part) ? '[^/]+' : part.replaceAll('::', ':').replaceAll('.', '\\.'),
    )
    .join('/')
  return new RegExp(`^${pattern}$`)
}
