import { Type } from 'typebox'
import { LIMITS } from '../../core/limits.ts'
import type { SubmitAnswer } from '../../core/protocol.ts'
import { readSubmission } from '../../core/wire.ts'
import { projectOf } from './access.ts'
import type { Api, ApiOptions } from './api.ts'
import { requireNoBody } from './body.ts'
import { fields, text } from './fields.ts'
import { answerRun, idempotencyKeyOf, withKey } from './idempotency.ts'
import { byOf, expectedVersion, NamePath, Paging, readPaging } from './request.ts'
import { JobDefinition, JobRun } from './submission-schema.ts'

const Pause = fields({ reason: Type.Optional(text(LIMITS.reasonLength)) })

export function jobRoutes(api: Api, { admin, clientFor }: Pick<ApiOptions, 'admin' | 'clientFor'>) {
  const { jobs } = admin
  const params = NamePath

  api.route({
    method: 'GET',
    url: '/v1/jobs',
    config: { permission: 'read' },
    schema: { summary: 'List jobs', querystring: Paging },
    handler: (request) => jobs.list(projectOf(request), readPaging(request.query)),
  })

  api.route({
    method: 'GET',
    url: '/v1/jobs/:name',
    config: { permission: 'read' },
    schema: { summary: 'Show a job', params },
    handler: async (request, reply) => {
      const job = await jobs.get(projectOf(request), request.params.name)
      return reply.header('etag', `"${job.version}"`).send(job)
    },
  })

  api.route({
    method: 'PUT',
    url: '/v1/jobs/:name',
    config: { permission: 'define' },
    schema: { summary: 'Define a job, or replace its definition', params, body: JobDefinition },
    handler: async (request, reply) => {
      const { name } = request.params
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
    config: { permission: 'define' },
    schema: { summary: 'Delete a job', params },
    handler: async (request, reply) => {
      await jobs.remove(byOf(request), request.params.name, expectedVersion(request))
      return reply.code(204).send()
    },
  })

  api.route({
    method: 'GET',
    url: '/v1/jobs/:name/versions',
    config: { permission: 'read' },
    schema: { summary: 'List the versions of a job', params, querystring: Paging },
    handler: (request) =>
      jobs.versions(projectOf(request), request.params.name, readPaging(request.query)),
  })

  api.route({
    method: 'POST',
    url: '/v1/jobs/:name/pause',
    config: { permission: 'operate' },
    schema: { summary: 'Pause a job', params, body: Pause },
    handler: (request) =>
      jobs.pause(byOf(request), request.params.name, request.body.reason ?? null),
  })

  api.route({
    method: 'POST',
    url: '/v1/jobs/:name/resume',
    config: { permission: 'operate' },
    schema: { summary: 'Resume a job', params },
    handler: (request) => {
      requireNoBody(request.body)
      return jobs.resume(byOf(request), request.params.name)
    },
  })

  api.route({
    method: 'POST',
    url: '/v1/jobs/:name/runs',
    config: { permission: 'operate' },
    schema: { summary: 'Run a job', params, body: JobRun },
    handler: async (request, reply) => {
      const project = projectOf(request)
      const { name } = request.params
      await jobs.get(project, name)
      const wire = { ...request.body, job: name }
      const submission = withKey(readSubmission(wire), idempotencyKeyOf(request))
      const [answer] = await clientFor(project, request.caller.tokenId).submit([submission])
      return answerRun(request, reply, answer as SubmitAnswer)
    },
  })
}
