import { parseTime } from '../../../core/wire/runs.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { byOf } from '../http/request.ts'
import { projectNamed, projectsOf, requireUser } from './access.ts'
import { unknownJob } from '../../compat/job-number.ts'
import { readRecurrence, type When } from '../../compat/recurrence.ts'
import { JobParameter, NewSubmission } from './schemas.ts'
import { workOfPayload } from '../../compat/shell-text.ts'

/** Of one job, its latest runs and what they printed. */
const IN_DETAIL = { runs: 100, bytes: 64 * 1024 }
const TITLE_LENGTH = 60

/** `POST /submit` and `GET /job?id=`. */
export function submissionRoutes(
  api: Api,
  { plain, isOpen = false }: Pick<ApiOptions, 'plain' | 'isOpen'>,
): void {
  const { jobs, uuids } = plain

  api.route({
    method: 'POST',
    url: '/submit',
    config: {
      permission: 'define',
      reference: {
        answers: { 201: 'PlainSubmitted' },
        takes: ['X-User-ID', 'Punctual-Project'],
        problems: ['invalid_schedule'],
      },
    },
    schema: { summary: 'Submit a payload for a user', body: NewSubmission },
    handler: async (request, reply) => {
      const owner = requireUser(request)
      const { project_id: named, payload, cron_schedule, next_fire_at, max_retries } = request.body
      const when = whenOf(cron_schedule, next_fire_at)
      const project = await projectNamed(request, named, { isOpen, jobs })
      const id = await jobs.create(
        { ...byOf(request), project },
        {
          ...{ title: titleOf(payload), owner, when },
          work: workOfPayload(payload),
          workField: 'payload',
          retries: max_retries ?? 0,
        },
      )
      const message = `Job submitted; ${wordsOf(when)}`
      return reply.code(201).send({ job_id: uuids.of(id), status: 'Submitted', message })
    },
  })

  const whenOf = (cron: string | null | undefined, first: string | null | undefined): When => {
    const firstAt = first?.trim() ? parseTime(first.trim(), 'next_fire_at') : undefined
    if (!cron?.trim()) return { once: { at: firstAt } }
    const now = plain.storeNow()
    return readRecurrence(cron, 'cron_schedule', { zone: plain.zone, now, firstAt })
  }

  api.route({
    method: 'GET',
    url: '/job',
    config: {
      permission: 'read',
      reference: {
        answers: { 200: 'UserJob' },
        takes: ['X-User-ID', 'Punctual-Project'],
        problems: ['job_not_found'],
      },
    },
    schema: { summary: 'Show a job of a user with its runs', querystring: JobParameter },
    handler: async (request) => {
      const user = requireUser(request)
      const { id } = request.query
      const job = await jobs.find(uuids.read(id), projectsOf(request))
      const shown = await plain.showing.submitted(job, IN_DETAIL)
      if (shown.user_id !== user) throw unknownJob(id)
      return shown
    },
  })
}

/** The first line says best what it is about. */
function titleOf(payload: string): string {
  const line = payload.replace(/^cmd:/, '').trim().split('\n', 1)[0] ?? ''
  return line.slice(0, TITLE_LENGTH).toWellFormed().trim() || 'payload'
}

function wordsOf({ rule, once }: When): string {
  if (rule) return 'it will run by its schedule'
  return once?.at === undefined
    ? 'it will run as soon as a worker is free'
    : 'it will run at its time'
}
