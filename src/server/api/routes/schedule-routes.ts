import type { SubmitAnswer } from '../../../core/wire/protocol.ts'
import { PunctualError } from '../../../core/errors.ts'
import { scheduleError } from '../../../core/schedule/rule/rule-error.ts'
import { parseTime } from '../../../core/wire/runs.ts'
import { projectOf } from '../http/access.ts'
import type { Administration } from '../../admin/administration.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { requireNoBody } from '../http/body.ts'
import { fields, name } from '../../../core/schema/fields.ts'
import { answerRun, idempotencyKeyOf, SUBMIT_DOCS } from '../http/idempotency.ts'
import { checkInputAtOnce } from '../http/validation/input-check.ts'
import { requestedByOf, expectedVersion } from '../http/request.ts'
import { ScheduleSchema, SchedulePauseSchema } from '../../../core/schema/schedule-schema.ts'

export const SchedulePathSchema = fields({ name: name(), schedule: name() })
export const SCHEDULE_URL = '/v1/jobs/:name/schedules/:schedule'
const problems = ['schedule_not_found'] as const

/** One schedule of a job: create, change, pause, delete. */
export function scheduleRoutes(api: Api, { admin }: Pick<ApiOptions, 'admin'>): void {
  definitionRoutes(api, admin)
  pauseRoutes(api, admin)
  runNowRoutes(api, admin)
}

function definitionRoutes(
  api: Api,
  { schedules, scheduleDefining: defining, scheduleReading: reading }: Administration,
): void {
  const params = SchedulePathSchema

  api.route({
    method: 'GET',
    url: SCHEDULE_URL,
    config: {
      permission: 'read',
      reference: { answers: { 200: 'Schedule' }, gives: { 200: ['ETag'] }, problems },
    },
    schema: { summary: 'Show a schedule', params },
    handler: async (request, reply) => {
      const { name: job, schedule } = request.params
      const shown = await reading.get(projectOf(request), job, schedule)
      return reply.header('etag', `"${shown.version}"`).send(shown)
    },
  })

  api.route({
    method: 'PUT',
    url: SCHEDULE_URL,
    config: {
      permission: 'define',
      reference: {
        answers: { 201: 'Schedule', 200: 'Schedule' },
        takes: ['If-Match', 'If-None-Match'],
        gives: { 201: ['ETag'], 200: ['ETag'] },
        problems: ['job_not_found', 'version_conflict', 'invalid_schedule', 'too_many_schedules'],
      },
    },
    schema: { summary: 'Create or replace a schedule', params, body: ScheduleSchema },
    handler: async (request, reply) => {
      const by = requestedByOf(request)
      const { name: job, schedule } = request.params
      checkInputAtOnce(request.body.input, 'input')
      const expect = expectedVersion(request)
      const { isNew } = await defining.put(by, job, schedule, request.body, expect)
      const shown = await reading.get(by.project, job, schedule)
      return reply
        .code(isNew ? 201 : 200)
        .header('etag', `"${shown.version}"`)
        .send(shown)
    },
  })

  api.route({
    method: 'DELETE',
    url: SCHEDULE_URL,
    config: {
      permission: 'define',
      reference: {
        answers: { 204: null },
        takes: ['If-Match'],
        problems: ['schedule_not_found', 'version_conflict'],
      },
    },
    schema: { summary: 'Delete a schedule', params },
    handler: async (request, reply) => {
      requireNoBody(request.body)
      const { name: job, schedule } = request.params
      await schedules.remove(requestedByOf(request), job, schedule, expectedVersion(request))
      return reply.code(204).send()
    },
  })
}

function pauseRoutes(api: Api, { schedules, scheduleReading: reading, now }: Administration): void {
  const params = SchedulePathSchema

  api.route({
    method: 'POST',
    url: `${SCHEDULE_URL}/pause`,
    config: {
      permission: 'operate',
      reference: {
        answers: { 200: 'Schedule' },
        problems: ['schedule_not_found', 'invalid_schedule'],
      },
    },
    schema: { summary: 'Pause a schedule', params, body: SchedulePauseSchema },
    handler: async (request) => {
      const by = requestedByOf(request)
      const { name: job, schedule } = request.params
      const { until, reason = null } = request.body
      const pause = { until: readEnd(until, now()), reason }
      await schedules.pause(by, job, schedule, pause)
      return reading.get(by.project, job, schedule)
    },
  })

  api.route({
    method: 'POST',
    url: `${SCHEDULE_URL}/resume`,
    config: { permission: 'operate', reference: { answers: { 200: 'Schedule' }, problems } },
    schema: { summary: 'Resume a schedule', params },
    handler: async (request) => {
      requireNoBody(request.body)
      const by = requestedByOf(request)
      const { name: job, schedule } = request.params
      await schedules.resume(by, job, schedule)
      return reading.get(by.project, job, schedule)
    },
  })

  api.route({
    method: 'POST',
    url: `${SCHEDULE_URL}/skip`,
    config: {
      permission: 'operate',
      reference: {
        answers: { 200: 'Schedule' },
        problems: ['schedule_not_found', 'nothing_to_skip'],
      },
    },
    schema: { summary: 'Skip the next time', params },
    handler: async (request) => {
      requireNoBody(request.body)
      const by = requestedByOf(request)
      const { name: job, schedule } = request.params
      if ((await schedules.skipNext(by, job, schedule)) === null) {
        throw new PunctualError('nothing_to_skip', `${job}/${schedule} has no future time`)
      }
      return reading.get(by.project, job, schedule)
    },
  })
}

function runNowRoutes(api: Api, { schedules }: Administration): void {
  const params = SchedulePathSchema

  api.route({
    method: 'POST',
    url: `${SCHEDULE_URL}/run`,
    config: {
      permission: 'operate',
      reference: { ...SUBMIT_DOCS, problems: ['schedule_not_found', ...SUBMIT_DOCS.problems] },
    },
    schema: { summary: 'Run it now, outside its schedule', params },
    handler: async (request, reply) => {
      requireNoBody(request.body)
      const { name: job, schedule } = request.params
      const key = idempotencyKeyOf(request)
      const answer: SubmitAnswer = await schedules.runNow(
        requestedByOf(request),
        job,
        schedule,
        key,
      )
      return answerRun(request, reply, answer)
    },
  })
}

function readEnd(text: string | undefined, now: number): number | null {
  if (text === undefined) return null
  const until = parseTime(text, 'until')
  if (until > now) return until
  throw scheduleError('until', 'this time is over', 'Choose a time to come, or leave it out.')
}
