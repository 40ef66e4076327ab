import { Type } from 'typebox'
import { schedulesIn } from '../../../core/job/job-definition.ts'
import { LIMITS } from '../../../core/limits.ts'
import type { SubmitAnswer } from '../../../core/wire/protocol.ts'
import { readSubmission } from '../../../core/wire/runs.ts'
import { checkStepCount } from '../../../core/workflow/reading/named-steps.ts'
import { projectOf } from '../http/access.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { requireNoBody } from '../http/body.ts'
import { fields, boundedText } from '../../../core/schema/fields.ts'
import { answerRun, idempotencyKeyOf, SUBMIT_DOCS, withKey } from '../http/idempotency.ts'
import { checkInput } from '../http/validation/input-check.ts'
import { writeLarge } from '../http/large-answer.ts'
import { validateStepwise } from '../http/validation/stepwise-validation.ts'
import {
  requestedByOf,
  expectedVersion,
  NamePathSchema,
  PagingSchema,
  readPaging,
} from '../http/request.ts'
import { JobDefinitionSchema } from '../../../core/schema/job-schema.ts'
import { JobRunSchema } from '../../../core/schema/submission-schema.ts'

export const PauseSchema = fields({ reason: Type.Optional(boundedText(LIMITS.reasonLength)) })

export function jobRoutes(
  api: Api,
  options: Pick<ApiOptions, 'admin' | 'clientFor' | 'clock'>,
): void {
  readRoutes(api, options)
  definitionRoutes(api, options)
  controlRoutes(api, options)
}

function readRoutes(
  api: Api,
  { admin: { jobs }, clock }: Pick<ApiOptions, 'admin' | 'clock'>,
): void {
  const params = NamePathSchema

  api.route({
    method: 'GET',
    url: '/v1/jobs',
    config: { list: true, permission: 'read', reference: { answers: { 200: 'JobPage' } } },
    schema: { summary: 'List jobs', querystring: PagingSchema },
    handler: async (request, reply) => {
      const page = await jobs.list(projectOf(request), readPaging(request.query))
      return writeLarge(page, reply, clock)
    },
  })

  api.route({
    method: 'GET',
    url: '/v1/jobs/:name',
    config: {
      permission: 'read',
      reference: { answers: { 200: 'Job' }, gives: { 200: ['ETag'] }, problems: ['job_not_found'] },
    },
    schema: { summary: 'Show a job', params },
    handler: async (request, reply) => {
      const job = await jobs.get(projectOf(request), request.params.name)
      return reply.header('etag', `"${job.version}"`).send(await writeLarge(job, reply, clock))
    },
  })

  api.route({
    method: 'GET',
    url: '/v1/jobs/:name/versions',
    config: {
      list: true,
      permission: 'read',
      reference: { answers: { 200: 'JobVersionPage' }, problems: ['job_not_found'] },
    },
    schema: { summary: 'List the versions of a job', params, querystring: PagingSchema },
    handler: async (request, reply) => {
      const { name } = request.params
      const page = await jobs.versions(projectOf(request), name, readPaging(request.query))
      return writeLarge(page, reply, clock)
    },
  })
}

function definitionRoutes(
  api: Api,
  { admin: { jobs }, clock }: Pick<ApiOptions, 'admin' | 'clock'>,
): void {
  const params = NamePathSchema

  api.route({
    method: 'PUT',
    url: '/v1/jobs/:name',
    config: {
      permission: 'define',
      mostKeys: LIMITS.definitionKeys,
      reference: {
        answers: { 201: 'Job', 200: 'Job' },
        takes: ['If-Match', 'If-None-Match'],
        gives: { 201: ['ETag'], 200: ['ETag'] },
        problems: [
          'job_exists',
          'schedule_exists',
          'version_conflict',
          'invalid_schedule',
          'too_many_schedules',
          'invalid_workflow',
          'invalid_expression',
          'too_many_steps',
          'invalid_trigger' as const,
        ],
      },
    },
    schema: {
      summary: 'Define a job, or replace its definition',
      params,
      body: JobDefinitionSchema,
    },
    bodyLimit: LIMITS.largeBodyBytes,
    validatorCompiler: validateStepwise(api, clock),
    // Checked before the single steps: the number of steps is refused whatever they contain.
    preValidation: async ({ body }) => refuseManySteps(body),
    handler: async (request, reply) => {
      const { name } = request.params
      for (const { at, definition } of schedulesIn(request.body)) {
        await checkInput(definition.input, `${at}input`, clock)
      }
      const expect = expectedVersion(request)
      const { job, isNew } = await jobs.put(requestedByOf(request), name, request.body, expect)
      return reply
        .code(isNew ? 201 : 200)
        .header('etag', `"${job.version}"`)
        .send(await writeLarge(job, reply, clock))
    },
  })

  api.route({
    method: 'DELETE',
    url: '/v1/jobs/:name',
    config: {
      permission: 'define',
      reference: {
        answers: { 204: null },
        takes: ['If-Match'],
        problems: ['job_not_found', 'job_is_live', 'version_conflict'],
      },
    },
    schema: { summary: 'Delete a job', params },
    handler: async (request, reply) => {
      requireNoBody(request.body)
      await jobs.remove(requestedByOf(request), request.params.name, expectedVersion(request))
      return reply.code(204).send()
    },
  })
}

function controlRoutes(
  api: Api,
  { admin: { jobs }, clientFor }: Pick<ApiOptions, 'admin' | 'clientFor'>,
): void {
  const params = NamePathSchema

  api.route({
    method: 'POST',
    url: '/v1/jobs/:name/pause',
    config: {
      permission: 'operate',
      reference: { answers: { 200: 'Job' }, problems: ['job_not_found'] },
    },
    schema: { summary: 'Pause a job', params, body: PauseSchema },
    handler: (request) =>
      jobs.pause(requestedByOf(request), request.params.name, request.body.reason ?? null),
  })

  api.route({
    method: 'POST',
    url: '/v1/jobs/:name/resume',
    config: {
      permission: 'operate',
      reference: { answers: { 200: 'Job' }, problems: ['job_not_found'] },
    },
    schema: { summary: 'Resume a job', params },
    handler: (request) => {
      requireNoBody(request.body)
      return jobs.resume(requestedByOf(request), request.params.name)
    },
  })

  api.route({
    method: 'POST',
    url: '/v1/jobs/:name/runs',
    config: {
      permission: 'operate',
      reference: { ...SUBMIT_DOCS, problems: ['job_not_found', ...SUBMIT_DOCS.problems] },
    },
    schema: { summary: 'Run a job', params, body: JobRunSchema },
    handler: async (request, reply) => {
      const project = projectOf(request)
      const { name } = request.params
      await jobs.require(project, name)
      const wire = { ...request.body, job: name }
      const submission = withKey(readSubmission(wire), idempotencyKeyOf(request))
      const [answer] = await clientFor(project, request.caller.tokenId).submit([submission])
      return answerRun(request, reply, answer as SubmitAnswer)
    },
  })
}

function refuseManySteps(body: unknown): void {
  const { steps } = Object(body) as { steps?: unknown }
  if (typeof steps === 'object' && steps !== null) checkStepCount(steps)
}
