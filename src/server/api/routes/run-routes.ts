import { Type } from 'typebox'
import { LIMITS } from '../../../core/limits.ts'
import { RETRY_ONLY } from '../../../core/run/retry-options.ts'
import { STATES } from '../../../core/run/run-state.ts'
import { writeRun, writeRunPage } from '../../../core/wire/runs.ts'
import { projectOf } from '../http/access.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { requireNoBody } from '../http/body.ts'
import { fields, arrayOf, name, oneOf, wholeNumber } from '../../../core/schema/fields.ts'
import { answerRun, idempotencyKeyOf, SUBMIT_DOCS } from '../http/idempotency.ts'
import { checkInput } from '../http/validation/input-check.ts'
import { writeLarge } from '../http/large-answer.ts'
import {
  cursorParameter,
  IdPathSchema,
  limitParameter,
  readPaging,
  readWait,
  readRunId,
  requestEndedSignal,
} from '../http/request.ts'

/** A wait must end well before the request that carries it. */
const LONGEST_WAIT_MS = 25_000
const LARGEST_VERSION = 2 ** 31 - 1

const stepNames = Type.Unsafe<string | readonly string[]>({
  anyOf: [name(), arrayOf(name(), LIMITS.retriedSteps, 1)],
  description: 'the name of a step, or a list of names',
})

export const RetrySchema = fields({
  only: Type.Optional(oneOf(RETRY_ONLY)),
  from: Type.Optional(stepNames),
  skip: Type.Optional(stepNames),
  input: Type.Optional(Type.Unknown()),
  version: Type.Optional(wholeNumber(1, LARGEST_VERSION)),
})

const ListParameters = fields({
  q: Type.Optional(Type.String({ description: 'a filter such as state:failed since:24h' })),
  state: Type.Optional(oneOf(STATES)),
  job: Type.Optional(name()),
  limit: limitParameter,
  cursor: cursorParameter,
})
const ShowParameters = fields({
  wait: Type.Optional(Type.String({ description: 'a duration, such as 20s' })),
})

export function runRoutes(
  api: Api,
  options: Pick<ApiOptions, 'clientFor' | 'admin' | 'clock'>,
): void {
  readRoutes(api, options)
  controlRoutes(api, options)
}

function readRoutes(
  api: Api,
  { clientFor, admin, clock }: Pick<ApiOptions, 'clientFor' | 'admin' | 'clock'>,
): void {
  const params = IdPathSchema

  api.route({
    method: 'GET',
    url: '/v1/runs',
    config: { list: true, permission: 'read', reference: { answers: { 200: 'RunPage' } } },
    schema: { summary: 'List runs, newest first', querystring: ListParameters },
    handler: async (request) => {
      const { q, state, job } = request.query
      const query = { q, state, job, ...readPaging(request.query) }
      return writeRunPage(await clientFor(projectOf(request), null).listRuns(query))
    },
  })

  api.route({
    method: 'GET',
    url: '/v1/runs/:id',
    config: {
      permission: 'read',
      reference: {
        answers: { 200: 'Run' },
        problems: ['run_not_found', 'blobs_unavailable', 'blob_unreadable'],
      },
    },
    schema: {
      summary: 'Show a run, at once or when it has ended',
      params,
      querystring: ShowParameters,
    },
    handler: async (request, reply) => {
      const id = readRunId(request.params.id)
      const project = projectOf(request)
      const waitMs = readWait(request.query.wait, LONGEST_WAIT_MS)
      if (waitMs !== undefined) {
        await admin.runs.wait(project, id, waitMs, requestEndedSignal(request, reply))
        await api.tokenWatch.requireValid(request)
      }
      return writeLarge(writeRun(await clientFor(project, null).getRun(id)), reply, clock)
    },
  })

  api.route({
    method: 'GET',
    url: '/v1/runs/:id/attempts',
    config: {
      permission: 'read',
      reference: { answers: { 200: 'AttemptList' }, problems: ['run_not_found'] },
    },
    schema: { summary: 'List the attempts of a run', params },
    handler: async (request) => ({
      data: await admin.runs.attempts(projectOf(request), readRunId(request.params.id)),
    }),
  })

  api.route({
    method: 'GET',
    url: '/v1/runs/:id/why',
    config: {
      list: true,
      permission: 'read',
      reference: { answers: { 200: 'Why' }, problems: ['run_not_found'] },
    },
    schema: { summary: 'Explain the state of a run', params },
    handler: (request) => admin.runs.why(projectOf(request), readRunId(request.params.id)),
  })
}

function controlRoutes(
  api: Api,
  { clientFor, clock }: Pick<ApiOptions, 'clientFor' | 'clock'>,
): void {
  const params = IdPathSchema

  api.route({
    method: 'POST',
    url: '/v1/runs/:id/cancel',
    config: {
      permission: 'operate',
      reference: { answers: { 200: 'Cancelled' }, problems: ['run_not_found', 'run_is_final'] },
    },
    schema: { summary: 'Cancel a run', params },
    handler: (request) => {
      requireNoBody(request.body)
      const client = clientFor(projectOf(request), request.caller.tokenId)
      const cause = { request: request.id, address: request.ip }
      return client.cancel(readRunId(request.params.id), cause)
    },
  })

  api.route({
    method: 'POST',
    url: '/v1/runs/:id/retry',
    config: {
      permission: 'operate',
      reference: {
        ...SUBMIT_DOCS,
        problems: [
          ...SUBMIT_DOCS.problems,
          'run_not_found',
          'run_not_final',
          'step_not_found',
          'blob_unreadable',
        ],
      },
      bodyIsOptional: true,
    },
    schema: {
      summary: 'Run a finished run again, completely or in part',
      params,
      body: RetrySchema,
    },
    bodyLimit: LIMITS.largeBodyBytes,
    handler: async (request, reply) => {
      await checkInput(request.body.input, 'input', clock)
      const client = clientFor(projectOf(request), request.caller.tokenId)
      const key = idempotencyKeyOf(request)
      const again = await client.retry(readRunId(request.params.id), key, request.body)
      return answerRun(request, reply, again)
    },
  })
}
