import { LIMITS } from '../../../core/limits.ts'
import { projectOf } from '../http/access.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { byOf, readCount } from '../http/request.ts'
import { projectsOf, userOf } from './access.ts'
import { readRecurrence, type When } from '../../compat/recurrence.ts'
import { JobPath, NewPlainJob, PlainPaging } from './schemas.ts'
import { readNumber } from '../../compat/job-number.ts'

const USUAL_PAGE = 100
/** In a list, of each job only the latest run and the end of what it printed. */
const IN_LIST = { runs: 1, bytes: 4 * 1024 }

/** `POST /jobs`, `GET /jobs` and `GET /jobs/{id}`. */
export function plainJobRoutes(api: Api, { plain }: Pick<ApiOptions, 'plain'>): void {
  api.route({
    method: 'POST',
    url: '/jobs',
    config: {
      permission: 'define',
      reference: {
        answers: { 201: 'PlainJob' },
        takes: ['Punctual-Project'],
        problems: ['invalid_schedule'],
      },
    },
    schema: { summary: 'Run a command, now or by a schedule', body: NewPlainJob },
    handler: async (request, reply) => {
      const { name, command, schedule } = request.body
      const by = byOf(request)
      const id = await plain.jobs.create(by, {
        ...{ title: name, work: { run: command }, workField: 'command' },
        when: whenOf(schedule),
      })
      const created = await plain.jobs.find(id, by.project)
      return reply.code(201).send(await plain.showing.job(created))
    },
  })

  const whenOf = (schedule: string | null | undefined): When => {
    if (!schedule?.trim()) return { once: { at: undefined } }
    return readRecurrence(schedule, 'schedule', { zone: plain.zone, now: plain.storeNow() })
  }

  api.route({
    method: 'GET',
    url: '/jobs',
    config: {
      permission: 'read',
      reference: {
        answers: { 200: 'PlainJobs' },
        takes: ['X-User-ID', 'Punctual-Project'],
        problems: ['job_not_found'],
      },
    },
    schema: { summary: 'List jobs, newest first', querystring: PlainPaging },
    handler: async (request) => {
      const { jobs, showing } = plain
      const page = pageOf(request.query)
      const user = userOf(request)
      if (user === undefined) {
        return Promise.all((await jobs.list(projectOf(request), page)).map(showing.job))
      }
      const owned = await jobs.listOwned(user, projectsOf(request), page)
      return Promise.all(owned.map((job) => showing.submitted(job, IN_LIST)))
    },
  })

  /** `before` is the id of the last job of the page before, in whichever form it was shown. */
  const pageOf = ({ limit, before }: { limit?: string; before?: string }) => ({
    limit: readCount(limit, 'limit', LIMITS.pageSize) ?? USUAL_PAGE,
    before: before === undefined ? Number.MAX_SAFE_INTEGER : numberOf(before),
  })

  const numberOf = (text: string): number => plain.uuids.read(text) ?? readNumber(text)

  api.route({
    method: 'GET',
    url: '/jobs/:id',
    config: {
      permission: 'read',
      reference: {
        answers: { 200: 'PlainJobDetail' },
        takes: ['Punctual-Project'],
        problems: ['job_not_found'],
      },
    },
    schema: { summary: 'Show a job with its last run', params: JobPath },
    handler: async (request) => {
      const project = projectOf(request)
      const job = await plain.jobs.find(readNumber(request.params.id), project)
      return plain.showing.jobWithLastRun(job)
    },
  })
}
