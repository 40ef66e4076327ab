import {
  EXECUTION_FIELD_DOCS,
  JOB_FIELD_DOCS,
  RUN_FIELD_DOCS,
  PARAMETER_FIELD_DOCS,
  RETRY_FIELD_DOCS,
  TRIGGER_FIELD_DOCS,
  SCHEDULE_FIELD_DOCS,
  STEP_FIELD_DOCS,
} from '../../../core/schema/field-docs.ts'
import type { BodyName } from './bodies.ts'

/**
 * What the fields of requests are for. The validating schemas say which values are allowed; that is
 * enough for an error, but not for a new user.
 */
type FieldDocs = Readonly<Record<string, string>>

const single: FieldDocs = {
  input: 'Passed to the job unchanged: any JSON of at most 8 MiB.',
  run_at: 'Earliest start; a time in the past means now.',
  dedupe_key: 'While a run with this key has not ended, another submission returns that run.',
  idempotency_key: 'A repeated submission with this key within a day returns the same run.',
  after:
    'Runs that must end first: `ok` (the default) if they must succeed, `notok` if they must not, ' +
    '`any` if the outcome does not matter. If this becomes impossible, the run is skipped.',
}

const webhook: FieldDocs = {
  url: 'The URL that receives messages.',
  events:
    'Which events to send: a run failed finally, a job succeeded again after a failure, a ' +
    'run succeeded or was cancelled; or a run violated an expectation of its ' +
    'schedule: it started late, is slow, missed its deadline, or succeeded without output.',
  jobs: 'Only for these jobs; for all if absent.',
  enabled: 'While false, nothing is sent.',
  secret: 'The secret that signs messages; generated if absent.',
}

const registration: FieldDocs = {
  registration: 'Counts the registrations of this session from 1.',
}

export const FIELD_DOCS: Readonly<Record<BodyName, FieldDocs>> = {
  Submission: {
    job: 'The job it is a run of. Needed unless it brings `run`, `argv`, `script`, `http` or `container`.',
    ...single,
    unknown_job:
      'How to treat a run that only names a job, if no such job is defined: `accept` (the default) ' +
      'keeps it until a worker offers a handler of that name; `refuse` answers with `job_not_found` unless a worker ' +
      'offers such a handler, offered one in the last day, or executed one of the latest runs of the job.',
    ...RUN_FIELD_DOCS,
    ...EXECUTION_FIELD_DOCS,
  },
  SubmissionBatch: { runs: 'The submissions.' },
  RetryPolicy: RETRY_FIELD_DOCS,
  JobDefinition: JOB_FIELD_DOCS,
  WorkflowStep: STEP_FIELD_DOCS,
  Parameter: PARAMETER_FIELD_DOCS,
  Trigger: TRIGGER_FIELD_DOCS,
  JobRun: { ...single, ...RUN_FIELD_DOCS },
  RunRetry: {
    only: 'For a workflow: only the failed steps and those that depend on them; all steps if absent.',
    from: 'For a workflow: these steps and those that depend on them, whatever their outcome.',
    skip: 'For a workflow: steps that count as done from now on.',
    input: 'Run everything again with this input instead.',
    version: 'Run everything again with this version of the job.',
  },
  StepApproval: {
    input: 'The input that the step requests with an approval; it becomes the output of the step.',
    message: 'The reason, for later readers.',
  },
  StepRefusal: { message: 'The reason, for later readers.' },
  StepSkip: { item: 'Only this item of a fan-out, counted from 0; the whole step if absent.' },
  HookCall: {},
  Pause: { reason: 'The reason, for later readers.' },
  ScheduleDefinition: SCHEDULE_FIELD_DOCS,
  DeclaredSchedule: {
    name: 'Its name within the job; its place in the list, counted from 1, if absent.',
    ...SCHEDULE_FIELD_DOCS,
  },
  ScheduleTrial: { ...SCHEDULE_FIELD_DOCS, count: 'How many times to show; 5 if absent.' },
  BackfillRequest: {
    from: 'The first time to include.',
    until: 'The last time to include; now if absent. A time in the future is refused.',
    order: 'Oldest first (the default) or newest first.',
    which:
      'Times without a run (`missing`, the default), those whose last run `failed`, or `all`. ' +
      'A time with an unfinished run is left out.',
    max_parallel: 'Maximum number of its unfinished runs; 1 if absent.',
    per_minute: 'Maximum number of starts per minute; unlimited if absent.',
    priority: 'Priority of its runs; -5 if absent, so that runs due now come first.',
    dry_run: 'Only return what would be done.',
  },
  SchedulePause: {
    until: 'End of the pause; until resumed if absent.',
    reason: 'The reason, for later readers.',
  },
  QueueChange: {
    paused: 'Nothing is taken from a paused queue.',
    default_timeout: 'Timeout of runs without one of their own; null for none.',
    max_timeout: 'Upper limit for the timeout of runs; null for no limit.',
    rate: 'How often attempts may start, over all nodes and workers; null for no limit.',
  },
  QueueRate: {
    limit: 'Number of attempts that may start in each `per`, spread evenly.',
    per: 'From 1 s to 31 days.',
    burst:
      'Number of attempts that may start at once after a quiet time; the number per second if absent.',
  },
  QueuesChange: { paused: 'Whether all queues of the project are paused.' },
  NewToken: {
    name: 'Its name in lists and in the audit log.',
    role: 'Its permissions.',
    expires_at: 'When it expires; never if absent.',
    everywhere: 'For the whole installation instead of one project.',
  },
  NewSecret: { value: 'The secret itself. No request returns it.' },
  NewWebhook: { name: 'Its name.', ...webhook },
  WebhookSettings: webhook,
  WebhookRotation: {
    secret: 'The new secret; generated if absent.',
    keep: 'How long messages are signed with the old one as well; a day if absent.',
  },
  Hello: {
    name: 'Display name of this worker.',
    projects: 'The projects it serves; all that its token may serve if absent.',
    queues: 'The queues it serves.',
    labels: 'Labels that runs may require.',
    executors:
      'What it can execute: `shell`, `argv`, `script`, `http`, `container`, `handler:<name>`.',
    features:
      'Additional capabilities: `secrets`, if it masks secrets and passes them to processes.',
    slots: 'Number of slots for concurrent work.',
    users: 'Users that commands may run as.',
    execution: 'How it isolates its processes, for display.',
    protocol: 'The versions of the protocol it speaks; 1 if absent.',
    session: 'Its session, if it was registered before.',
    ...registration,
    held: 'Attempts it is still running.',
    forsaken: 'Attempts it began and had to stop without a report, since its last registration.',
  },
  Exchange: {
    ...registration,
    number: 'Counts 1, 2, 3 …; the same exchange is repeated until it is answered.',
    answered: 'The last exchange whose answer it received; 0 after a registration.',
    done: 'Attempts that ended since.',
    free: 'Slots that are free after these attempts.',
    wait_ms: 'How long the server may delay the answer while there is nothing to run.',
  },
  Heartbeat: {
    ...registration,
    answered: 'The last exchange whose answer it received.',
    held: 'Every attempt it holds.',
    quarantined:
      'Why this worker currently takes no work: several attempts in a row could not be started.',
  },
  LogChunks: {
    ...registration,
    chunks: 'New output of attempts; the chunks of each attempt have consecutive numbers.',
    progress: 'New progress reports of attempts.',
  },
  Leave: registration,
  NewCompatJob: {
    name: 'Display name; need not be unique.',
    command: 'A command line for a shell.',
    schedule: 'Its schedule; absent, null or empty: once, now.',
  },
  CompatWorkerName: { worker_id: 'The name of the worker, always the same.' },
  CompatReport: {
    worker_id: 'The worker that runs the job.',
    logs: 'What the job printed since the last report.',
    status:
      '`running` if it goes on; `success` or `succeeded`, `failure` or `failed` when it has ended.',
    exit_code: 'Exit code of its process; stored if the report ends the attempt.',
  },
  NewSubmission: {
    project_id: 'The project it belongs to.',
    payload: 'A command or script after `cmd:`; anything else is passed on unchanged.',
    cron_schedule: 'Its schedule; absent, null or empty: once.',
    next_fire_at: 'When it runs first; absent, null, empty or in the past: now.',
    max_retries: 'How many attempts may follow one that failed; 0 if absent.',
  },
}

/** Parameters in a path or a query, by name. */
export const PARAMETER_DOCS: FieldDocs = {
  project: 'The project of the hook; `default` if absent.',
  session: 'The session returned by the registration.',
  limit: 'Maximum number of items; 50 if absent.',
  cursor: 'Continues where an earlier page ended.',
  everywhere: 'Covers all projects; only for tokens of the whole installation.',
  q: 'Filter: terms of the form `key:value`, all of which must match.',
  state: 'Only runs in this state.',
  job: 'Only runs of this job.',
  wait: 'Wait for the end of the run, at most this long; up to 25 s.',
  attempt: 'Which attempt; the latest if absent.',
  from_line: 'The first line to show, counted from 0.',
  tail: 'Only this number of last lines.',
  schedule: 'Which schedule of the job.',
  since: 'Start of the range; a day ago if absent.',
  from: 'Start of the range; a day ago if absent.',
  until: 'End of the range; a day from now if absent.',
}

/** Parameters with another meaning on one path. */
export const PARAMETER_DOCS_BY_PATH: Readonly<Record<string, FieldDocs>> = {
  '/v1/schedules': { job: 'Only schedules of this job.', state: 'Only those in this state.' },
  '/v1/runs/{id}/steps': { state: 'Only those in this state.' },
  '/v1/schedules/next': {
    job: 'Only times of this job.',
    limit: 'How many times to show at most; 5 if absent.',
  },
  '/v1/runs/{id}/logs': { limit: 'How many lines to show at most; 1,000 if absent.' },
  '/v1/runs/{id}/logs/search': {
    q: 'The search text.',
    mode: 'Whether it is literal text or a regular expression; `literal` if absent.',
    case: 'Whether the search distinguishes capital letters; `sensitive` if absent.',
    from_line: 'The first line to search, counted from 0.',
    limit: 'How many lines to show at most; 100 if absent.',
  },
  '/jobs': {
    limit: 'How many to show at most; 100 if absent.',
    before: 'Continues after the job with this id, the last of an earlier page.',
  },
  '/job': { id: 'The job, by the UUID it was submitted under.' },
  '/workers/{id}/next': {
    empty:
      'The answer when there is no job: `204`, or `json` for `{"job": null}`; the value of `--plain-empty` if absent.',
    wait: 'How long to wait for a job; no wait if absent.',
  },
  '/v1/runs/{id}/logs/follow': {
    attempt: 'Only this attempt; all of them, one after the other, if absent.',
    skip: 'Whether output may be skipped if this reader is too slow; `false` if absent.',
  },
}
