import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { PunctualError } from '../../../core/errors.ts'
import { requirePublicId } from '../../../core/ids.ts'
import { LIMITS } from '../../../core/limits.ts'
import type { FinishedAttempt, SessionKey, WorkerClient } from '../../../core/wire/protocol.ts'
import { readExchange, writeExchangeAnswer, writeWelcome } from '../../../core/wire/worker.ts'
import { requestOriginOf } from '../http/origin.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { fields } from '../../../core/schema/fields.ts'
import { disconnectSignal } from '../http/request.ts'
import { checkBytes } from '../http/validation/input-check.ts'
import { checkEntries } from '../http/validation/entry-check.ts'
import {
  ExchangeSchema,
  HeartbeatSchema,
  HelloSchema,
  LeaveSchema,
  LogSchema,
} from './worker-schemas.ts'

const SessionPath = fields({ session: Type.String() })

const config = { permission: 'work' } as const
const takes = ['Punctual-Session-Secret'] as const
const params = SessionPath

/** The worker protocol as the caller of this request may use it. */
type WorkingOf = (request: FastifyRequest) => WorkerClient

export function workerRoutes(
  api: Api,
  { workingFor, ...access }: Pick<ApiOptions, 'workingFor' | 'identify' | 'isOpen'>,
): void {
  const workingOf: WorkingOf = (request) => workingFor(requestOriginOf(request, access))
  registerRoute(api, workingOf)
  exchangeRoute(api, workingOf)
  heartbeatRoute(api, workingOf)
  outputRoute(api, workingOf)
  leaveRoute(api, workingOf)
}

function registerRoute(api: Api, workingOf: WorkingOf): void {
  api.route({
    method: 'POST',
    url: '/v1/workers',
    config: {
      ...config,
      reference: {
        answers: { 201: 'Welcome' },
        takes,
        problems: [
          'invalid_id',
          'session_unknown',
          'session_superseded',
          'protocol_unsupported',
          'too_many_sessions',
          'node_cannot_renew',
        ],
      },
    },
    schema: { summary: 'Register a worker', body: HelloSchema },
    handler: async (request, reply) => {
      const welcome = await workingOf(request).register(request.body, secretOf(request))
      return reply.code(201).send(writeWelcome(welcome))
    },
  })
}

function exchangeRoute(api: Api, workingOf: WorkingOf): void {
  api.route({
    method: 'POST',
    url: '/v1/workers/:session/exchange',
    config: {
      ...config,
      freeText: ['last'],
      reference: {
        takes,
        answers: { 200: 'ExchangeAnswer' },
        problems: [
          'session_unknown',
          'session_superseded',
          'exchange_out_of_order',
          'node_cannot_renew',
          'blobs_unavailable',
          'storage_full',
        ],
      },
    },
    bodyLimit: LIMITS.largeBodyBytes,
    schema: { summary: 'Report finished attempts and take new ones', params, body: ExchangeSchema },
    handler: async (request, reply) => {
      const session = keyOf(request, request.params.session)
      for (const [index, done] of request.body.done.entries()) checkDone(done, index)
      const signal = disconnectSignal(reply)
      try {
        const message = readExchange(request.body)
        return writeExchangeAnswer(await workingOf(request).exchange(session, message, signal))
      } catch (error) {
        if (!signal.aborted) throw error
        // The worker has disconnected. Its grants stay with the session until it asks again.
        return reply.hijack()
      }
    },
  })
}

function heartbeatRoute(api: Api, workingOf: WorkingOf): void {
  api.route({
    method: 'POST',
    url: '/v1/workers/:session/heartbeat',
    config: {
      ...config,
      reference: {
        takes,
        answers: { 200: 'HeartbeatAnswer' },
        problems: ['session_unknown', 'session_superseded', 'node_cannot_renew'],
      },
    },
    schema: { summary: 'Renew the leases of a worker', params, body: HeartbeatSchema },
    handler: async (request) => {
      const session = keyOf(request, request.params.session)
      return workingOf(request).heartbeat(session, request.body)
    },
  })
}

function outputRoute(api: Api, workingOf: WorkingOf): void {
  api.route({
    method: 'POST',
    url: '/v1/workers/:session/logs',
    config: {
      ...config,
      freeText: ['entries'],
      reference: {
        takes,
        answers: { 200: 'LogAnswer' },
        problems: ['session_unknown', 'session_superseded', 'overloaded'],
      },
    },
    bodyLimit: LIMITS.logBodyBytes,
    schema: { summary: 'Store output of attempts', params, body: LogSchema },
    handler: async (request) => {
      const session = keyOf(request, request.params.session)
      for (const [index, { entries }] of request.body.chunks.entries()) {
        checkEntries(entries, `chunks.${index}.entries`)
      }
      return workingOf(request).log(session, request.body)
    },
  })
}

function leaveRoute(api: Api, workingOf: WorkingOf): void {
  api.route({
    method: 'POST',
    url: '/v1/workers/:session/leave',
    config: {
      ...config,
      reference: {
        takes,
        answers: { 204: null },
        problems: ['session_unknown', 'session_superseded'],
      },
    },
    schema: { summary: 'End the session of a worker', params, body: LeaveSchema },
    handler: async (request, reply) => {
      const session = keyOf(request, request.params.session)
      await workingOf(request).leave(session, request.body.registration)
      return reply.code(204).send()
    },
  })
}

/** Visible ASCII, and short enough for a quick digest. */
const SECRET = /^[\x21-\x7e]{1,128}$/

function secretOf({ headers }: FastifyRequest): string | undefined {
  const secret = headers['punctual-session-secret']
  if (secret === undefined) return undefined
  if (typeof secret === 'string' && SECRET.test(secret)) return secret
  const field = 'Punctual-Session-Secret'
  throw new PunctualError('invalid_request', `the header ${field} is not the secret of a session`, {
    field,
  })
}

function keyOf(request: FastifyRequest, id: string): SessionKey {
  requirePublicId('ses', id, 'session')
  return { id, secret: secretOf(request) }
}

function checkDone({ message, result, process }: FinishedAttempt, index: number): void {
  if (message !== undefined) checkBytes(message, LIMITS.messageBytes, `done.${index}.message`)
  if (result !== undefined) checkBytes(result, LIMITS.resultBytes, `done.${index}.result`)
  const last = process?.output?.last
  if (last) checkEntries(last, `done.${index}.process.output.last`)
}
