import { Type } from 'typebox'
import { PunctualError } from '../../../core/errors.ts'
import { requirePublicId } from '../../../core/ids.ts'
import { LIMITS } from '../../../core/limits.ts'
import type { Done } from '../../../core/wire/protocol.ts'
import { readExchange, writeExchangeAnswer, writeWelcome } from '../../../core/wire/runs.ts'
import type { Caller } from '../../identity/caller.ts'
import { projectOf } from '../http/access.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { fields } from '../../../core/schema/fields.ts'
import { whenGone } from '../http/request.ts'
import { checkBytes } from '../http/input-check.ts'
import { checkEntries } from '../http/entry-check.ts'
import { Exchange, Heartbeat, Hello, Leave, Log } from './worker-schemas.ts'

const SessionPath = fields({ session: Type.String() })

export function workerRoutes(api: Api, { clientFor }: Pick<ApiOptions, 'clientFor'>): void {
  const config = { permission: 'work' } as const
  const params = SessionPath

  api.route({
    method: 'POST',
    url: '/v1/workers',
    config: {
      ...config,
      reference: {
        answers: { 201: 'Welcome' },
        problems: ['invalid_id', 'session_superseded', 'protocol_unsupported', 'node_cannot_renew'],
      },
    },
    schema: { summary: 'Register a worker', body: Hello },
    handler: async (request, reply) => {
      const project = projectOf(request)
      requireOwnProjects(request, project)
      const { protocol = [PROTOCOL], ...hello } = request.body
      requireKnownProtocol(protocol)
      const client = clientFor(project, request.caller.tokenId)
      const welcome = await client.register(hello)
      return reply.code(201).send({ ...writeWelcome(welcome), protocol: PROTOCOL })
    },
  })

  api.route({
    method: 'POST',
    url: '/v1/workers/:session/exchange',
    config: {
      ...config,
      freeText: ['last'],
      reference: {
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
    schema: { summary: 'Report finished attempts and take new ones', params, body: Exchange },
    handler: async (request, reply) => {
      const session = sessionId(request.params.session)
      for (const [index, done] of request.body.done.entries()) checkDone(done, index)
      const signal = whenGone(reply)
      try {
        const client = clientFor(projectOf(request), request.caller.tokenId)
        return writeExchangeAnswer(
          await client.exchange(session, readExchange(request.body), signal),
        )
      } catch (error) {
        if (!signal.aborted) throw error
        // Nobody is there to be told. What was granted stays with the session until it asks again.
        return reply.hijack()
      }
    },
  })

  api.route({
    method: 'POST',
    url: '/v1/workers/:session/heartbeat',
    config: {
      ...config,
      reference: {
        answers: { 200: 'HeartbeatAnswer' },
        problems: ['session_unknown', 'session_superseded', 'node_cannot_renew'],
      },
    },
    schema: { summary: 'Keep what a worker holds', params, body: Heartbeat },
    handler: async (request) => {
      const session = sessionId(request.params.session)
      return clientFor(projectOf(request), request.caller.tokenId).heartbeat(session, request.body)
    },
  })

  api.route({
    method: 'POST',
    url: '/v1/workers/:session/logs',
    config: {
      ...config,
      freeText: ['entries'],
      reference: {
        answers: { 200: 'LogAnswer' },
        problems: ['session_unknown', 'session_superseded', 'overloaded'],
      },
    },
    bodyLimit: LIMITS.logBodyBytes,
    schema: { summary: 'Store what attempts printed', params, body: Log },
    handler: async (request) => {
      const session = sessionId(request.params.session)
      for (const [index, { entries }] of request.body.chunks.entries()) {
        checkEntries(entries, `chunks.${index}.entries`)
      }
      return clientFor(projectOf(request), request.caller.tokenId).log(session, request.body)
    },
  })

  api.route({
    method: 'POST',
    url: '/v1/workers/:session/leave',
    config: {
      ...config,
      reference: { answers: { 204: null }, problems: ['session_unknown', 'session_superseded'] },
    },
    schema: { summary: 'End the session of a worker', params, body: Leave },
    handler: async (request, reply) => {
      const session = sessionId(request.params.session)
      await clientFor(projectOf(request), request.caller.tokenId).leave(
        session,
        request.body.registration,
      )
      return reply.code(204).send()
    },
  })
}

/** The version of the worker protocol this server speaks. */
const PROTOCOL = 1

function requireKnownProtocol(spoken: readonly number[]): void {
  if (spoken.includes(PROTOCOL)) return
  const message = `this server speaks version ${PROTOCOL} of the worker protocol, not ${spoken.join(', ')}`
  throw new PunctualError('protocol_unsupported', message, { field: 'protocol' })
}

/** A token of one project serves that project; to serve all of them takes one of the installation. */
function requireOwnProjects(
  { caller, body }: { caller: Caller; body: { projects?: readonly string[] } },
  project: string,
): void {
  if (caller.project === null || body.projects === undefined) return
  if (body.projects.length > 0 && body.projects.every((name) => name === project)) return
  const message = `this token serves the project ${caller.project} only`
  throw new PunctualError('forbidden', message, { field: 'projects' })
}

function sessionId(text: string): string {
  requirePublicId('ses', text, 'session')
  return text
}

function checkDone({ message, result, process }: Done, index: number): void {
  if (message !== undefined) checkBytes(message, LIMITS.messageBytes, `done.${index}.message`)
  if (result !== undefined) checkBytes(result, LIMITS.resultBytes, `done.${index}.result`)
  const last = process?.output?.last
  if (last) checkEntries(last, `done.${index}.process.output.last`)
}
