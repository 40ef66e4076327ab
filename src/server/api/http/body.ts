import type { FastifyRequest } from 'fastify'
import { PunctualError } from '../../../core/errors.ts'
import type { Api } from './api.ts'
import { parseJsonBody } from '../../json/json-body.ts'

/** Bodies are JSON, said to be JSON, and not compressed: a few bytes must not unfold into many. */
export function acceptJsonOnly(api: Api): void {
  api.removeAllContentTypeParsers()
  api.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer' },
    (request, bytes, done) => {
      try {
        const { config } = request.routeOptions
        if (config.keepsBytes) request.bytes = bytes
        done(null, parseJsonBody(bytes, config))
      } catch (error) {
        done(error as Error)
      }
    },
  )

  api.addHook('onRequest', (request, _reply, next) => {
    const encoding = request.headers['content-encoding'] ?? 'identity'
    if (encoding.toLowerCase() === 'identity') next()
    else next(new PunctualError('unsupported_media_type', 'the body is compressed'))
  })

  api.addHook('preValidation', (request, _reply, next) => {
    if (request.body !== undefined || !takesBody(request)) return next()
    if (request.routeOptions.config.bodyIsOptional) {
      request.body = {}
      next()
    } else {
      next(
        new PunctualError('unsupported_media_type', 'the request has no body and no Content-Type'),
      )
    }
  })
}

function takesBody(request: FastifyRequest): boolean {
  return request.routeOptions.schema?.body !== undefined
}

/** For verbs that need no more than their path: nothing, or an empty object. */
export function requireNoBody(body: unknown): void {
  if (body === undefined) return
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new PunctualError('invalid_field', 'the body must be empty or an empty object')
  }
  const [name] = Object.keys(body)
  if (name === undefined) return
  const field = name.slice(0, 64)
  throw new PunctualError('unknown_field', `${field} is not a field here`, { field })
}
