import { Type } from 'typebox'
import { LIMITS } from '../../../core/limits.ts'
import { SCHEDULE_STATES } from '../../../core/schedule/definition/schedule-views.ts'
import { parseTime } from '../../../core/wire/runs.ts'
import { projectOf } from '../http/access.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { fields, name, oneOf, time } from '../../../core/schema/fields.ts'
import { checkInput } from '../http/input-check.ts'
import { cursorParameter, limitParameter, readCount, readPaging } from '../http/request.ts'
import { SCHEDULE_URL, SchedulePath } from './schedule-routes.ts'
import { Preview } from '../../../core/schema/schedule-schema.ts'

const Listing = fields({
  job: Type.Optional(name()),
  state: Type.Optional(oneOf(SCHEDULE_STATES)),
  limit: limitParameter,
  cursor: cursorParameter,
})
const Range = fields({
  from: Type.Optional(time()),
  until: Type.Optional(time()),
  limit: limitParameter,
  cursor: cursorParameter,
})

/** How many times to come are shown when nobody says. */
const SOME_TIMES = 5

/** What was to happen, what happened, and what is to happen. */
export function timetableRoutes(api: Api, { admin }: Pick<ApiOptions, 'admin'>): void {
  const { scheduleReading: reading } = admin
  const params = SchedulePath

  api.route({
    method: 'GET',
    url: '/v1/schedules',
    config: { permission: 'read', reference: { answers: { 200: 'SchedulePage' } } },
    schema: { summary: 'List schedules', querystring: Listing },
    handler: (request) => {
      const { job, state } = request.query
      return reading.list(projectOf(request), { ...readPaging(request.query), job, state })
    },
  })

  api.route({
    method: 'GET',
    url: '/v1/schedules/next',
    config: { permission: 'read', reference: { answers: { 200: 'NextTimeList' } } },
    schema: {
      summary: 'List what fires next',
      querystring: fields({ job: Type.Optional(name()), limit: limitParameter }),
    },
    handler: (request) => {
      const { job, limit } = request.query
      const count = readCount(limit, 'limit', LIMITS.pageSize) ?? SOME_TIMES
      return reading.next(projectOf(request), job, count)
    },
  })

  api.route({
    method: 'POST',
    url: '/v1/schedules/preview',
    config: {
      permission: 'read',
      reference: { answers: { 200: 'Preview' }, problems: ['invalid_schedule'] },
    },
    schema: { summary: 'Try a rule', body: Preview },
    handler: async (request) => {
      const { count = SOME_TIMES, ...definition } = request.body
      checkInput(definition.input, 'input')
      return reading.preview(projectOf(request), definition, count)
    },
  })

  api.route({
    method: 'GET',
    url: '/v1/away',
    config: { permission: 'read', reference: { answers: { 200: 'Away' } } },
    schema: {
      summary: 'Sum up what did not simply fire',
      querystring: fields({ since: Type.Optional(time()) }),
    },
    handler: (request) => reading.away(projectOf(request), readTime(request.query.since, 'since')),
  })

  api.route({
    method: 'GET',
    url: `${SCHEDULE_URL}/occurrences`,
    config: {
      permission: 'read',
      reference: { answers: { 200: 'OccurrencePage' }, problems: ['schedule_not_found'] },
    },
    schema: { summary: 'List planned times and what became of them', params, querystring: Range },
    handler: (request) => {
      const { name: job, schedule } = request.params
      const { from, until } = request.query
      const range = { from: readTime(from, 'from'), until: readTime(until, 'until') }
      const page = { ...readPaging(request.query), ...range }
      return reading.occurrences(projectOf(request), job, schedule, page)
    },
  })

  api.route({
    method: 'GET',
    url: `${SCHEDULE_URL}/why`,
    config: {
      permission: 'read',
      reference: { answers: { 200: 'ScheduleWhy' }, problems: ['schedule_not_found'] },
    },
    schema: { summary: 'Say why it fires or does not', params },
    handler: (request) => {
      const { name: job, schedule } = request.params
      return reading.why(projectOf(request), job, schedule)
    },
  })
}

function readTime(text: string | undefined, field: string): number | undefined {
  return text === undefined ? undefined : parseTime(text, field)
}
