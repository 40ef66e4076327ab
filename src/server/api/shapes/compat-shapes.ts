import { EXIT_CODES } from '../../../core/run/output.ts'
import { JOB_STATUSES, RUN_STATUSES } from '../../compat/statuses.ts'
import type {
  WireCompatJob,
  WireCompatJobDetail,
  WireCompatNext,
  WireCompatReport,
  WireCompatRun,
  WireCompatTask,
  WireCompatWorker,
  WireSubmitted,
  WireSubmittedJob,
  WireSubmittedRun,
} from '../../compat/wire.ts'
import {
  listShape,
  nullableShape,
  objectShape,
  refShape,
  type Shape,
  textShape,
  timeShape,
  integerShape,
  enumShape,
} from './shapes.ts'

const uuid = (description: string): Shape => textShape(description, { format: 'uuid' })
const jobNumber = integerShape('The job.', { minimum: 1 })
const worker = nullableShape(textShape('The worker that runs or ran it.'))

const job: Readonly<Record<keyof Omit<WireCompatJob, 'status'>, Shape>> = {
  id: jobNumber,
  name: textShape('Display name; need not be unique.'),
  command: nullableShape(textShape('A shell command; null for work that no shell can run.')),
  schedule: nullableShape(textShape('Its schedule; null if it runs once.')),
  created_at: timeShape('When it was created.'),
}
const task: Readonly<Record<keyof WireCompatTask, Shape>> = {
  ...job,
  run_id: integerShape('The run.', { minimum: 1 }),
  attempt: integerShape('Which attempt of the run it is.', { minimum: 1 }),
}
const status = enumShape(
  JOB_STATUSES,
  'The state of its latest run; `pending` if it will run again by its schedule.',
)

/** Responses of the compatibility protocols. */
export const COMPAT_SHAPES = {
  CompatJob: objectShape<WireCompatJob>('A job by its number.', { ...job, status }),
  CompatRun: objectShape<WireCompatRun>('A run that has begun.', {
    run_id: integerShape('The run.', { minimum: 1 }),
    job_id: jobNumber,
    worker_id: worker,
    start_time: nullableShape(timeShape('When its latest attempt began.')),
    end_time: nullableShape(timeShape('When it ended; null while it has not.')),
    status: enumShape(RUN_STATUSES, '`running` also while it waits for another attempt.'),
    exit_code: nullableShape(integerShape('If its process exited by itself.', EXIT_CODES)),
    logs: textShape('What its latest attempt printed; of more than 1 MiB, the end.'),
  }),
  CompatJobDetail: objectShape<WireCompatJobDetail>('A job with its last run.', {
    ...job,
    status,
    last_run: nullableShape(refShape('CompatRun')),
  }),
  CompatJobs: {
    type: 'array',
    items: { anyOf: [refShape('CompatJob'), refShape('UserJob')] },
    description: 'Jobs by number, or, with `X-User-ID`, those of a user with their latest run.',
  },
  CompatTask: objectShape<WireCompatTask>('A job to run now.', task),
  CompatNext: {
    description: 'A job to run now; or `{"job": null}`, where empty answers are JSON.',
    anyOf: [
      objectShape<WireCompatNext>('The fields of the job, and the same under `job`.', {
        ...task,
        job: refShape('CompatTask'),
      }),
      objectShape<{ job: null }>('There is no job.', {
        job: { type: 'null', description: 'Always null.' },
      }),
    ],
  },
  CompatWorker: objectShape<WireCompatWorker>('A worker by the name it gave itself.', {
    worker_id: textShape('Its name.'),
    last_seen: timeShape('When it last sent a request.'),
    status: enumShape(['active', 'inactive'], '`inactive` after too long a silence.'),
  }),
  CompatReported: objectShape<WireCompatReport>('The report is stored.', {
    job_id: jobNumber,
    worker_id: textShape('The worker.'),
    status: enumShape(RUN_STATUSES, 'The state of the run after that report.'),
  }),
  CompatSubmitted: objectShape<WireSubmitted>('The job is stored.', {
    job_id: uuid('The id of the job.'),
    status: enumShape(['Submitted'], 'Always the same.'),
    message: textShape('For people.'),
  }),
  UserRun: objectShape<WireSubmittedRun>('A run of a submitted job.', {
    run_id: uuid('The run; `/v1/runs/{id}` accepts it too.'),
    status: enumShape(JOB_STATUSES, 'Its state.'),
    triggered_at: timeShape('When it was due.'),
    completed_at: nullableShape(timeShape('When it ended; null while it has not.')),
    output: textShape('The output of its latest attempt, or the end of it.'),
    worker_id: worker,
    error_message: nullableShape(textShape('Why it failed; null if it did not.')),
  }),
  UserJob: objectShape<WireSubmittedJob>('A job of a user.', {
    job_id: uuid('The id of the job.'),
    user_id: nullableShape(textShape('Whose it is.')),
    project_id: textShape('Its project.'),
    payload: textShape('A command after `cmd:`, otherwise the input that is passed on.'),
    cron_schedule: nullableShape(textShape('Its schedule.')),
    next_fire_at: nullableShape(timeShape('When it runs next; null if never.')),
    max_retries: integerShape('How many attempts may follow one that failed.'),
    status,
    created_at: timeShape('When it was submitted.'),
    runs: listShape(refShape('UserRun'), 'Its latest runs, newest first.'),
  }),
}
