import type { WireSchedule } from '../../core/schedule/definition/schedule-views.ts'
import type { WireJob } from '../../core/job/job-views.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { jobPath } from './find-job.ts'

/** A job, or one of its schedules. */
export interface Target {
  readonly job: string
  readonly schedule: string | undefined
}

export function readTarget(text: string): Target {
  const [job = '', schedule, ...more] = text.split('/')
  if (job !== '' && schedule !== '' && more.length === 0) return { job, schedule }
  throw new Failure(`"${text}" does not name a job, or one of its schedules`, {
    exitCode: EXIT.usage,
    hint: 'Write JOB, or JOB/SCHEDULE.',
  })
}

export function schedulePath({ job, name }: Pick<WireSchedule, 'job' | 'name'>): string {
  return `${jobPath(job)}/schedules/${encodeURIComponent(name)}`
}

/** The named schedule, or all schedules of the named job. */
export async function resolveSchedules(calls: ServerCalls, text: string): Promise<WireSchedule[]> {
  const { job, schedule } = readTarget(text)
  if (schedule !== undefined) {
    return [await calls.call<WireSchedule>('GET', schedulePath({ job, name: schedule }))]
  }
  const { schedules = [] } = await calls.call<WireJob>('GET', jobPath(job))
  if (schedules.length > 0) return [...schedules]
  throw new Failure(`the job ${job} has no schedules`, {
    exitCode: EXIT.notFound,
    next: `punctual every 'weekdays at 09:05' ${job}`,
  })
}

/** The named schedule. If only a job with several schedules is named, the user has to choose. */
export async function resolveSchedule(calls: ServerCalls, text: string): Promise<WireSchedule> {
  const [first, ...others] = await resolveSchedules(calls, text)
  if (first && others.length === 0) return first
  const names = [first, ...others].map((one) => `${text}/${one?.name}`)
  throw new Failure(`the job ${text} has ${names.length} schedules`, {
    exitCode: EXIT.usage,
    hint: `Say which: ${names.slice(0, 5).join(', ')}${names.length > 5 ? ', …' : ''}.`,
  })
}
