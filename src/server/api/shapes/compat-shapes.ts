import { JOB_STATUSES, RUN_STATUSES } from '../../compat/statuses.ts'
import type {
  WirePlainJob,
  WirePlainJobDetail,
  WirePlainReport,
  WirePlainRun,
  WirePlainTask,
  WirePlainWorker,
  WireSubmitted,
  WireSubmittedJob,
  WireSubmittedRun,
} from '../../compat/wire.ts'
import { list, orNull, record, ref, runId, type Shape, text, time, whole, word } from './shapes.ts'

const uuid = (description: string): Shape => text(description, { format: 'uuid' })
const jobNumber = whole('The job.', { minimum: 1 })
const worker = orNull(text('The worker that has or had it in hand.'))

const job: Readonly<Record<keyof Omit<WirePlainJob, 'status'>, Shape>> = {
  id: jobNumber,
  name: text('What people call it; others may be called the same.'),
  command: orNull(text('For a shell; null for what no shell can do.')),
  schedule: orNull(text('When it runs by itself; null if it runs once.')),
  created_at: time('When it was first there.'),
}
const status = word(JOB_STATUSES, 'How its latest run stands.')

/** What the plain paths of older protocols answer. */
export const PLAIN_SHAPES = {
  PlainJob: record<WirePlainJob>('A job by its number.', { ...job, status }),
  PlainRun: record<WirePlainRun>('A run that somebody has begun.', {
    run_id: whole('The run.', { minimum: 1 }),
    job_id: jobNumber,
    worker_id: worker,
    start_time: orNull(time('When its latest attempt began.')),
    end_time: orNull(time('When it ended; null while it has not.')),
    status: word(RUN_STATUSES, '`running` also while it waits for another attempt.'),
    logs: text('What its latest attempt printed; of more than 1 MiB, the end.'),
  }),
  PlainJobDetail: record<WirePlainJobDetail>('A job and how it went last.', {
    ...job,
    status,
    last_run: orNull(ref('PlainRun')),
  }),
  PlainJobs: {
    type: 'array',
    items: { anyOf: [ref('PlainJob'), ref('UserJob')] },
    description: 'Jobs by number, or, with `X-User-ID`, those of a user with their latest run.',
  },
  PlainTask: record<WirePlainTask>('A job to do now.', {
    ...job,
    run_id: whole('The run.', { minimum: 1 }),
    attempt: whole('Which attempt of the run it is.', { minimum: 1 }),
  }),
  PlainWorker: record<WirePlainWorker>('A worker by the name it gave itself.', {
    worker_id: text('Its name.'),
    last_seen: time('When it was last heard of.'),
    status: word(['active', 'inactive'], '`inactive` when it has not been heard of for too long.'),
  }),
  PlainReported: record<WirePlainReport>('What was reported is stored.', {
    job_id: jobNumber,
    worker_id: text('The worker.'),
    status: word(RUN_STATUSES, 'How the run stands by that report.'),
  }),
  PlainSubmitted: record<WireSubmitted>('The job is stored.', {
    job_id: uuid('What to ask for it by.'),
    status: word(['Submitted'], 'Always the same.'),
    message: text('For people.'),
  }),
  UserRun: record<WireSubmittedRun>('A run of a submitted job.', {
    run_id: runId('The run, under the id it has everywhere else.'),
    status: word(JOB_STATUSES, 'How it stands.'),
    triggered_at: time('When it was due.'),
    completed_at: orNull(time('When it ended; null while it has not.')),
    output: text('What its latest attempt printed, or the end of that.'),
    worker_id: worker,
    error_message: orNull(text('Why it failed; null if it did not.')),
  }),
  UserJob: record<WireSubmittedJob>('A job of a user.', {
    job_id: uuid('What to ask for it by.'),
    user_id: orNull(text('Whose it is.')),
    project_id: text('Its project.'),
    payload: text('What is executed after `cmd:`, and otherwise what is handed on.'),
    cron_schedule: orNull(text('When it runs by itself.')),
    next_fire_at: orNull(time('When it does so next; null if never.')),
    max_retries: whole('How many attempts may follow one that failed.'),
    status,
    created_at: time('When it was submitted.'),
    runs: list(ref('UserRun'), 'Its latest runs, newest first.'),
  }),
}
