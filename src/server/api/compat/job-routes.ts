import { LIMITS } from '../../../core/limits.ts'
import { projectOf } from '../http/access.ts'
import type { CompatApi } from '../../compat/compat-api.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { requestedByOf, readCountParameter } from '../http/request.ts'
import { projectsOf, userOf } from './access.ts'
import { readCompatRecurrence, type JobTiming } from '../../compat/recurrence.ts'
import { JobPathSchema, NewCompatJobSchema, CompatPagingSchema } from './schemas.ts'
import { readNumber } from '../../compat/job-number.ts'

const DEFAULT_PAGE = 100
/** A list shows only the latest run of each job and the end of its output. */
const IN_LIST = { runs: 1, bytes: 4 * 1024 }

/** `POST /jobs`, `GET /jobs` and `GET /jobs/{id}`. */
export function compatJobRoutes(api: Api, { compat }: Pick<ApiOptions, 'compat'>): void {
  api.route({
    method: 'POST',
    url: '/jobs',
    config: {
      permission: 'define',
      reference: {
        answers: { 201: 'CompatJob' },
        takes: ['Punctual-Project'],
        problems: ['invalid_schedule'],
      },
    },
    schema: { summary: 'Run a command, now or by a schedule', body: NewCompatJobSchema },
    handler: async (request, reply) => {
      const { name, command, schedule } = request.body
      const by = requestedByOf(request)
      const id = await compat.jobs.create(by, {
        title: name,
        work: { run: command },
        workField: 'command',
        when: whenOf(schedule, compat),
      })
      const created = await compat.jobs.find(id, by.project)
      return reply.code(201).send(await compat.showing.job(created))
    },
  })

  api.route({
    method: 'GET',
    url: '/jobs',
    config: {
      list: true,
      permission: 'read',
      reference: {
        answers: { 200: 'CompatJobs' },
        takes: ['X-User-ID', 'Punctual-Project'],
        problems: ['job_not_found'],
      },
    },
    schema: { summary: 'List jobs, newest first', querystring: CompatPagingSchema },
    handler: async (request) => {
      const { jobs, showing } = compat
      const page = pageOf(request.query, compat)
      const user = userOf(request)
      if (user === undefined) {
        return Promise.all((await jobs.list(projectOf(request), page)).map(showing.job))
      }
      const owned = await jobs.listOwned(user, projectsOf(request), page)
      return Promise.all(owned.map((job) => showing.submitted(job, IN_LIST)))
    },
  })

  api.route({
    method: 'GET',
    url: '/jobs/:id',
    config: {
      list: true,
      permission: 'read',
      reference: {
        answers: { 200: 'CompatJobDetail' },
        takes: ['Punctual-Project'],
        problems: ['job_not_found'],
      },
    },
    schema: { summary: 'Show a job with its last run', params: JobPathSchema },
    handler: async (request) => {
      const project = projectOf(request)
      const job = await compat.jobs.find(readNumber(request.params.id), project)
      return compat.showing.jobWithLastRun(job)
    },
  })
}

function whenOf(schedule: string | null | undefined, { zone, storeNow }: CompatApi): JobTiming {
  if (!schedule?.trim()) return { once: { at: undefined } }
  return readCompatRecurrence(schedule, 'schedule', { zone, now: storeNow() })
}

/** `before` is the id of the last job of the previous page, in any form in which it was shown. */
function pageOf({ limit, before }: { limit?: string; before?: string }, { jobUuids }: CompatApi) {
  return {
    limit: readCountParameter(limit, 'limit', LIMITS.pageSize) ?? DEFAULT_PAGE,
    before:
      before === undefined
        ? Number.MAX_SAFE_INTEGER
        : (jobUuids.read(before) ?? readNumber(before)),
  }
}
