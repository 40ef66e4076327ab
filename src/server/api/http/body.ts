import type { FastifyRequest } from 'fastify'
import { PunctualError } from '../../../core/errors.ts'
import type { Api, ApiOptions } from './api.ts'
import { runInSlices } from '../../loops/run-in-slices.ts'
import {
  type JsonAllowance,
  parseJsonBody,
  parsingJsonBody,
  PARSED_AT_ONCE_BYTES,
} from '../../json/json-body.ts'

type Done = (error: Error | null, body?: unknown) => void

/** Bodies must be declared JSON and uncompressed: a few bytes must not expand into many. */
export function acceptJsonOnly(api: Api, { clock }: Pick<ApiOptions, 'clock'>): void {
  const parseLarge = async (bytes: Buffer, allowance: JsonAllowance, done: Done) => {
    try {
      done(null, await runInSlices(parsingJsonBody(bytes, allowance), clock))
    } catch (error) {
      done(error as Error)
    }
  }
  api.removeAllContentTypeParsers()
  api.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer' },
    (request, bytes, done) => {
      try {
        const { config } = request.routeOptions
        if (config.keepsBytes) request.bytes = bytes
        if (bytes.length <= PARSED_AT_ONCE_BYTES) return done(null, parseJsonBody(bytes, config))
        void parseLarge(bytes, config, done)
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

/** For verbs that need only their path: no body, or an empty object. */
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
