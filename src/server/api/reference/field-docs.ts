import {
  EXECUTED,
  JOB,
  OF_RUNS,
  PARAMETER,
  RETRY,
  TRIGGER,
  SCHEDULE,
  STEP,
} from '../../../core/schema/field-docs.ts'
import type { BodyName } from '../shapes/answers.ts'

/**
 * What the fields of requests are for. The schemas that check them say what they must be; a refusal
 * needs no more than that, a newcomer does.
 */
type Meanings = Readonly<Record<string, string>>

const single: Meanings = {
  input: 'Handed to the job as it is: any JSON of at most 8 MiB.',
  run_at: 'Not before this time; a time in the past means now.',
  dedupe_key: 'While a run with this key has not ended, submitting again answers with that run.',
  idempotency_key: 'Submitted again with this key within a day, it is the same run.',
  after:
    'Runs that have to end before: `ok` if they have to succeed, as if absent, `notok` if they must not, ' +
    '`any` if it does not matter. If that cannot be any more, the run is skipped.',
}

const webhook: Meanings = {
  url: 'Where to send messages to.',
  events:
    'What to tell: that a run failed for good, that a job succeeded again after a failure, that a ' +
    'run succeeded, that one was cancelled; or that what a schedule expects of a run did not come ' +
    'true: that it started late, is slow, has not ended by its deadline, or succeeded without a word.',
  jobs: 'Only of these jobs; of all if absent.',
  enabled: 'Nothing is sent while it is false.',
  secret: 'What to sign messages with; a new one is made if absent.',
}

const registration: Meanings = {
  registration: 'Counts the registrations of this session from 1.',
}

export const MEANINGS: Readonly<Record<BodyName, Meanings>> = {
  Submission: {
    job: 'The job it is a run of. Needed unless it brings `run`, `argv`, `script`, `http` or `container`.',
    ...single,
    ...OF_RUNS,
    ...EXECUTED,
  },
  SubmissionBatch: { runs: 'The submissions.' },
  RetryPolicy: RETRY,
  JobDefinition: JOB,
  WorkflowStep: STEP,
  Parameter: PARAMETER,
  Trigger: TRIGGER,
  JobRun: { ...single, ...OF_RUNS },
  RunRetry: {
    only: 'Of a workflow, only what failed and what depends on that; everything if absent.',
    from: 'Of a workflow, these steps and what depends on them, whatever became of them.',
    skip: 'Of a workflow, steps that count as done from now on.',
    input: 'Run everything again with this input instead.',
    version: 'Run everything again as this version of the job has it.',
  },
  StepApproval: {
    input: 'What the step asks of whoever agrees; it becomes the output of the step.',
    message: 'Why, for those who read it later.',
  },
  StepRefusal: { message: 'Why, for those who read it later.' },
  StepSkip: { item: 'Only this item of a fan-out, counted from 0; the whole step if absent.' },
  HookCall: {},
  Pause: { reason: 'Why, for whoever wonders later.' },
  ScheduleDefinition: SCHEDULE,
  DeclaredSchedule: {
    name: 'Its name within the job; its place in the list, counted from 1, if absent.',
    ...SCHEDULE,
  },
  ScheduleTrial: { ...SCHEDULE, count: 'How many times to show; 5 if absent.' },
  BackfillRequest: {
    from: 'The first time that may be made up for.',
    until: 'The last one; now if absent.',
    order: 'Oldest first, as if absent, or newest first.',
    which:
      'Times that never became a run (`missing`, as if absent), those whose last run `failed`, or `all`. ' +
      'None while one of its runs is under way.',
    max_parallel: 'So many of its runs may be open at once; 1 if absent.',
    per_minute: 'So many may start in a minute; as many as there is room for if absent.',
    priority: 'Of its runs; -5 if absent, so that what is due now comes first.',
    dry_run: 'Only answer what would be done.',
  },
  SchedulePause: {
    until: 'Until when; until it is resumed if absent.',
    reason: 'Why, for whoever wonders later.',
  },
  QueueChange: {
    paused: 'Nothing is taken from a paused queue.',
    default_timeout: 'For runs that ask for no timeout; null for none.',
    max_timeout: 'No run gets more; null for no limit.',
    rate: 'How often attempts may start, over all nodes and workers; null for as often as they can.',
  },
  QueueRate: {
    limit: 'So many attempts may start in every `per`, spread evenly.',
    per: 'From 1 s to 31 days.',
    burst:
      'So many may start at once when there were fewer before; what comes in a second if absent.',
  },
  QueuesChange: { paused: 'Whether all queues of the project rest.' },
  NewToken: {
    name: 'What to call it in lists and in the record.',
    role: 'What it may do.',
    expires_at: 'From then on it is refused; never if absent.',
    everywhere: 'For the whole installation instead of one project.',
  },
  NewSecret: { value: 'The secret itself. No request ever answers with it.' },
  NewWebhook: { name: 'What to call it.', ...webhook },
  WebhookSettings: webhook,
  WebhookRotation: {
    secret: 'The new secret; one is made if absent.',
    keep: 'How long messages are signed with the old one as well; a day if absent.',
  },
  Hello: {
    name: 'What people call this worker.',
    projects: 'The projects it serves; all that its token may serve if absent.',
    queues: 'The queues it serves.',
    labels: 'What it has that runs may ask for.',
    executors:
      'What it can execute: `shell`, `argv`, `script`, `http`, `container`, `handler:<name>`.',
    features: 'What it understands besides: `secrets`, if it masks and hands on secrets.',
    slots: 'How much it runs at once.',
    users: 'Users that commands may ask to run as.',
    execution: 'How surely it holds its processes, for people who look.',
    protocol: 'The versions of the protocol it speaks; 1 if absent.',
    session: 'Its session, if it was registered before.',
    ...registration,
    held: 'Attempts it is running still.',
    forsaken: 'Attempts it began and had to stop without a report, since its last welcome.',
  },
  Exchange: {
    ...registration,
    number: 'Counts 1, 2, 3 …; the same exchange is repeated until it is answered.',
    answered: 'The last exchange whose answer was taken in; 0 after a registration.',
    done: 'Attempts that ended since.',
    free: 'Slots that are free after those.',
    wait_ms: 'How long the server may hold the answer while there is nothing to run.',
  },
  Heartbeat: {
    ...registration,
    answered: 'The last exchange whose answer was taken in.',
    held: 'Every attempt it holds.',
    quarantined:
      'Why this worker takes nothing for now: several attempts in a row could not be started.',
  },
  LogChunks: {
    ...registration,
    chunks: 'What attempts printed since; those of one numbered one after the other.',
    progress: 'How far attempts say they are, where that is new.',
  },
  Leave: registration,
  NewPlainJob: {
    name: 'What people call it; others may be called the same.',
    command: 'A command line for a shell.',
    schedule: 'When it runs by itself; absent, null or empty: once, now.',
  },
  PlainWorkerName: { worker_id: 'What the worker calls itself, always the same.' },
  PlainReport: {
    worker_id: 'The worker that has the job in hand.',
    logs: 'What the job printed since the last report.',
    status:
      '`running` if it goes on; `success` or `succeeded`, `failure` or `failed` when it has ended.',
  },
  NewSubmission: {
    project_id: 'The project it belongs to.',
    payload: 'A command or script after `cmd:`; anything else is handed on as it is.',
    cron_schedule: 'When it runs by itself; absent, null or empty: once.',
    next_fire_at: 'When it runs first; absent, null, empty or in the past: now.',
    max_retries: 'How many attempts may follow one that failed; 0 if absent.',
  },
}

/** Of parameters in a path or a query, by name. */
export const PARAMETERS: Meanings = {
  project: 'The project the hook is of; `default` if absent.',
  session: 'The session that the registration gave.',
  limit: 'How many to show at most; 50 if absent.',
  cursor: 'Goes on where an earlier page ended.',
  everywhere: 'Beyond the project; only for tokens of the whole installation.',
  q: 'Which runs: words of the form `key:value`, all of which must hold.',
  state: 'Only runs in this state.',
  job: 'Only runs of this job.',
  wait: 'Answer when the run has ended, or after this time as it is then; at most 25 s.',
  attempt: 'Which attempt; the latest if absent.',
  from_line: 'The first line to show, counted from 0.',
  tail: 'So many lines of the end.',
  schedule: 'Which schedule of the job.',
  since: 'Since when; for a day if absent.',
  from: 'From when on; for a day before now if absent.',
  until: 'Until when; for a day from now if absent.',
}

/** Of parameters that mean something else in one place, by path. */
export const PARAMETERS_OF: Readonly<Record<string, Meanings>> = {
  '/v1/schedules': { job: 'Only schedules of this job.', state: 'Only those in this state.' },
  '/v1/runs/{id}/steps': { state: 'Only those in this state.' },
  '/v1/schedules/next': {
    job: 'Only of this job.',
    limit: 'How many times to show at most; 5 if absent.',
  },
  '/v1/runs/{id}/logs': { limit: 'How many lines to show at most; 1,000 if absent.' },
  '/v1/runs/{id}/logs/search': {
    q: 'What to look for.',
    mode: 'Whether that is the text itself or a regular expression; `literal` if absent.',
    case: 'Whether capitals are letters of their own; `sensitive` if absent.',
    from_line: 'The first line to look at, counted from 0.',
    limit: 'How many lines to show at most; 100 if absent.',
  },
  '/jobs': {
    limit: 'How many to show at most; 100 if absent.',
    before: 'Goes on after the job with this id, the last of an earlier page.',
  },
  '/job': { id: 'The job, by the UUID it was submitted under.' },
  '/workers/{id}/next': {
    wait: 'How long to wait for a job if there is none; not at all if absent.',
  },
  '/v1/runs/{id}/logs/follow': {
    attempt: 'Only this attempt; all of them, one after the other, if absent.',
    skip: 'Whether what this reader is too slow for may be left out; `false` if absent.',
  },
}
