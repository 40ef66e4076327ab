import { parseTime } from '../../../core/wire/runs.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { requestedByOf } from '../http/request.ts'
import { projectNamed, projectsOf, userOf, userOrAnonymous } from './access.ts'
import { unknownJob } from '../../compat/job-number.ts'
import { readCompatRecurrence, type JobTiming } from '../../compat/recurrence.ts'
import { JobParameterSchema, NewSubmissionSchema } from './schemas.ts'
import { workOfPayload } from '../../compat/shell-text.ts'

/** The latest runs of one job with their output. */
const IN_DETAIL = { runs: 100, bytes: 64 * 1024 }
const TITLE_LENGTH = 60

/** `POST /submit` and `GET /job?id=`. */
export function compatSubmitRoutes(
  api: Api,
  { compat, isOpen = false }: Pick<ApiOptions, 'compat' | 'isOpen'>,
): void {
  const { jobs, jobUuids } = compat

  api.route({
    method: 'POST',
    url: '/submit',
    config: {
      permission: 'define',
      reference: {
        answers: { 201: 'CompatSubmitted' },
        takes: ['X-User-ID', 'Punctual-Project'],
        problems: ['invalid_schedule'],
      },
    },
    schema: { summary: 'Submit a payload for a user', body: NewSubmissionSchema },
    handler: async (request, reply) => {
      const owner = userOrAnonymous(request, { isOpen })
      const { project_id: named, payload, cron_schedule, next_fire_at, max_retries } = request.body
      const when = whenOf(cron_schedule, next_fire_at)
      const project = await projectNamed(request, named, { isOpen, jobs })
      const id = await jobs.create(
        { ...requestedByOf(request), project },
        {
          title: titleOf(payload),
          owner,
          when,
          work: workOfPayload(payload),
          workField: 'payload',
          retries: max_retries ?? 0,
        },
      )
      const message = `Job submitted; ${wordsOf(when)}`
      return reply.code(201).send({ job_id: jobUuids.of(id), status: 'Submitted', message })
    },
  })

  const whenOf = (cron: string | null | undefined, first: string | null | undefined): JobTiming => {
    const firstAt = first?.trim() ? parseTime(first.trim(), 'next_fire_at') : undefined
    if (!cron?.trim()) return { once: { at: firstAt } }
    const now = compat.storeNow()
    return readCompatRecurrence(cron, 'cron_schedule', { zone: compat.zone, now, firstAt })
  }

  api.route({
    method: 'GET',
    url: '/job',
    config: {
      list: true,
      permission: 'read',
      reference: {
        answers: { 200: 'UserJob' },
        takes: ['X-User-ID', 'Punctual-Project'],
        problems: ['job_not_found'],
      },
    },
    schema: { summary: 'Show a job of a user with its runs', querystring: JobParameterSchema },
    handler: async (request) => {
      const user = userOf(request)
      const { id } = request.query
      const job = await jobs.find(jobUuids.read(id), projectsOf(request))
      const shown = await compat.showing.submitted(job, IN_DETAIL)
      if (user !== undefined && shown.user_id !== user) throw unknownJob(id)
      return shown
    },
  })
}

/** The first line serves as the title. */
function titleOf(payload: string): string {
  const line = payload.replace(/^cmd:/, '').trim().split('\n', 1)[0] ?? ''
  return line.slice(0, TITLE_LENGTH).toWellFormed().trim() || 'payload'
}

function wordsOf({ rule, once }: JobTiming): string {
  if (rule) return 'it will run by its schedule'
  return once?.at === undefined
    ? 'it will run as soon as a worker is free'
    : 'it will run at its time'
}
