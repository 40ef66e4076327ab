import { Type } from 'typebox'
import { schedulesIn } from '../../../core/job/job-definition.ts'
import { LIMITS } from '../../../core/limits.ts'
import type { SubmitAnswer } from '../../../core/wire/protocol.ts'
import { readSubmission } from '../../../core/wire/runs.ts'
import { countSteps } from '../../../core/workflow/named-steps.ts'
import { projectOf } from '../http/access.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { requireNoBody } from '../http/body.ts'
import { fields, text } from '../../../core/schema/fields.ts'
import { answerRun, idempotencyKeyOf, SUBMITTING, withKey } from '../http/idempotency.ts'
import { checkInput } from '../http/input-check.ts'
import { judgeStepwise } from '../http/stepwise-validation.ts'
import { byOf, expectedVersion, NamePath, Paging, readPaging } from '../http/request.ts'
import { JobDefinition } from '../../../core/schema/job-schema.ts'
import { JobRun } from '../../../core/schema/submission-schema.ts'

export const Pause = fields({ reason: Type.Optional(text(LIMITS.reasonLength)) })

export function jobRoutes(
  api: Api,
  { admin, clientFor, clock }: Pick<ApiOptions, 'admin' | 'clientFor' | 'clock'>,
) {
  const { jobs } = admin
  const params = NamePath

  api.route({
    method: 'GET',
    url: '/v1/jobs',
    config: { permission: 'read', reference: { answers: { 200: 'JobPage' } } },
    schema: { summary: 'List jobs', querystring: Paging },
    handler: (request) => jobs.list(projectOf(request), readPaging(request.query)),
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
      return reply.header('etag', `"${job.version}"`).send(job)
    },
  })

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
          ...([
            'job_exists',
            'version_conflict',
            'invalid_schedule',
            'too_many_schedules',
          ] as const),
          ...(['invalid_workflow', 'invalid_expression', 'too_many_steps'] as const),
          'invalid_trigger' as const,
        ],
      },
    },
    schema: { summary: 'Define a job, or replace its definition', params, body: JobDefinition },
    bodyLimit: LIMITS.largeBodyBytes,
    validatorCompiler: judgeStepwise(api, clock),
    // Before each of them is looked at: too many are too many, whatever they say.
    preValidation: async ({ body }) => refuseManySteps(body),
    handler: async (request, reply) => {
      const { name } = request.params
      for (const { at, definition } of schedulesIn(request.body)) {
        checkInput(definition.input, `${at}input`)
      }
      const expect = expectedVersion(request)
      const { job, isNew } = await jobs.put(byOf(request), name, request.body, expect)
      return reply
        .code(isNew ? 201 : 200)
        .header('etag', `"${job.version}"`)
        .send(job)
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
      await jobs.remove(byOf(request), request.params.name, expectedVersion(request))
      return reply.code(204).send()
    },
  })

  api.route({
    method: 'GET',
    url: '/v1/jobs/:name/versions',
    config: {
      permission: 'read',
      reference: { answers: { 200: 'JobVersionPage' }, problems: ['job_not_found'] },
    },
    schema: { summary: 'List the versions of a job', params, querystring: Paging },
    handler: (request) =>
      jobs.versions(projectOf(request), request.params.name, readPaging(request.query)),
  })

  api.route({
    method: 'POST',
    url: '/v1/jobs/:name/pause',
    config: {
      permission: 'operate',
      reference: { answers: { 200: 'Job' }, problems: ['job_not_found'] },
    },
    schema: { summary: 'Pause a job', params, body: Pause },
    handler: (request) =>
      jobs.pause(byOf(request), request.params.name, request.body.reason ?? null),
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
      return jobs.resume(byOf(request), request.params.name)
    },
  })

  api.route({
    method: 'POST',
    url: '/v1/jobs/:name/runs',
    config: {
      permission: 'operate',
      reference: { ...SUBMITTING, problems: ['job_not_found', ...SUBMITTING.problems] },
    },
    schema: { summary: 'Run a job', params, body: JobRun },
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
  if (typeof steps === 'object' && steps !== null) countSteps(steps)
}
