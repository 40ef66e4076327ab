/**
 * Documentation of the fields of a job: what each field is for. The schemas themselves only define valid values. Used
 * by the API reference and by editors.
 */
type FieldDocs = Readonly<Record<string, string>>

export const RUN_FIELD_DOCS: FieldDocs = {
  queue: 'The queue of the run; `default` by default.',
  priority: 'Of two runs that could start, the one with the higher priority starts first.',
  runs_on: 'The run starts only on workers that have all these labels.',
  weight: 'The number of worker slots that the run takes; 1 by default.',
  timeout: 'The maximum duration of an attempt.',
  retry: 'What happens when an attempt fails.',
  on_lost:
    'What happens when the worker is lost: `retry` starts another attempt, `fail` does not, so that ' +
    'nothing is ever started twice.',
  concurrency: 'At most `limit` runs with the same `key` are ready or running at the same time.',
  tags: 'Your own tags, for finding the run.',
}

export const EXECUTION_FIELD_DOCS: FieldDocs = {
  task: 'The function to call, if its name differs from the job.',
  run: 'A command line for a shell.',
  shell: 'The shell that reads `run`; `/bin/sh` by default.',
  argv: 'A program and its arguments, started without a shell.',
  script: 'A script, stored with the run.',
  interpreter:
    'The program that reads `script`, or a list of the program and its arguments; `/bin/sh` by default.',
  http:
    'An HTTP request: `url`, `method`, `headers`, `body`, `expect` (statuses that count as success, ' +
    'such as `200-299,304`), `max_response` and `redirects`.',
  container:
    'A container to run: `image`, `command`, `entrypoint`, `mounts`, `workdir`, `user`, `network` ' +
    'and `pull`.',
  cwd: 'The working directory, as an absolute path.',
  env: 'Environment variables, in addition to those of the worker.',
  stdin: 'The standard input.',
  umask: 'The file mode creation mask, in octal digits.',
  kill_grace: 'The time between SIGTERM and SIGKILL.',
  limits:
    'Resource limits of an attempt: `memory`, `cpu` (cores), `pids`, open `files`, kept `output`, ' +
    'and `tmp`, the size of its temporary directory.',
  run_as: 'The user it runs as. The run starts only on workers that allow this user.',
  secrets:
    'Secrets that the run receives, by name: in a variable of that name or, with `as: file`, in a file ' +
    'whose path is in the variable `<name>_FILE`. Their values are masked in the output.',
}

const EXPECTED: FieldDocs = {
  deadline:
    'The run should have ended this long after its nominal time (`30m`), or by this time of day in its zone ' +
    '(`05:30`); otherwise its occurrence is `overdue`, with an entry of the kind `unfinished` in `lapses`.',
  expect:
    'The run should have started this long after its nominal time (`start`), should take at most this long ' +
    '(`duration`; `2x` is twice the typical duration), and should print something or return a result (`output`).',
}

export const SCHEDULE_FIELD_DOCS: FieldDocs = {
  cron:
    'The times as cron: five fields, or six with seconds first; a year may follow; names, `L`, `W`, `#`, `H`, ' +
    '`@daily`, `@every 90s`.',
  every:
    'The times in words: `15m`, `weekdays at 09:05`, `every 15 minutes between 08:00 and 18:00`, ' +
    '`5m after finish`.',
  at: 'A single time: a date and a time; without an offset it is local to `zone`.',
  zone: 'The IANA time zone; the zone of the server by default.',
  dst:
    'What happens to local times that a clock change skips (`gap`: `run-after` the change, or `skip`) or ' +
    'repeats (`repeat`: `first`, `both` or `last`).',
  start: 'Nothing fires before this time; intervals count from it.',
  end: 'Nothing fires after this time.',
  jitter: 'The maximum delay of fires; the delay is constant for the same time.',
  overlap:
    'What happens while an earlier run has not ended: `skip` the time, `queue(n)` up to n waiting runs, ' +
    '`replace` the running one, or `allow` both; `queue(1)` by default.',
  missed:
    'What happens to times at which no server was running: `skip` them, run the `latest` or `all`. An object ' +
    'also has `max_age` and, for `all`, `max_count` and `every`, the minimum time between two; the default ' +
    'is `latest` of the last 24 h.',
  input: 'The input of its runs: any JSON of at most 64 KiB.',
  priority: 'The priority of its runs, if it differs from the job.',
  ...EXPECTED,
}

export const RETRY_FIELD_DOCS: FieldDocs = {
  max: 'The maximum number of attempts after the first one.',
  backoff: 'How the delay grows from one attempt to the next.',
  delay: 'The delay before the second attempt.',
  max_delay: 'The maximum delay.',
  jitter: 'The random share of the delay, so that failed runs do not all retry at the same time.',
  on: 'The causes of failure that are retried.',
}

export const JOB_FIELD_DOCS: FieldDocs = {
  title: 'A readable name.',
  description: 'A description; may contain Markdown.',
  owner: 'The contact person or team.',
  source:
    'The folder of files that contains the job; `punctual apply --prune` deletes only jobs of its own folder.',
  schedule: 'The schedules of the job.',
  deadline: 'The default for all its schedules.',
  expect: 'The defaults for all its schedules, field by field.',
  triggers:
    'Other events that start the job: another job that ended (`after`), or a signed call of `/v1/hooks/{name}` (`webhook`).',
  input: 'The fields of the input of its runs, with their types and defaults.',
  ...RUN_FIELD_DOCS,
  concurrency:
    'At most `limit` runs with the same `key` at the same time; without a key, runs of this job. The default ' +
    'for a workflow is one at a time; `none` allows any number.',
  ...EXECUTION_FIELD_DOCS,
  steps:
    'A workflow. A list runs top to bottom; an object is a graph, connected by `needs`. Fields next to it ' +
    '(`env`, `queue`, `retry` …) are defaults for all steps.',
  output:
    'The output of a successful workflow: a value with expressions about its steps; `null` by default.',
}

const { concurrency: _, tags: __, ...ofStepRuns } = RUN_FIELD_DOCS

export const STEP_FIELD_DOCS: FieldDocs = {
  name: 'The name of the step; only in a list, where the default is its position, `step-1`.',
  description: 'A description.',
  ...EXECUTION_FIELD_DOCS,
  ...ofStepRuns,
  task: 'The function to call.',
  job: 'Another job to run as this step.',
  approve:
    'An approval by a user: `by` whom, with which `message`, until when (`timeout`), and the fields to fill ' +
    'in (`input`).',
  needs: 'The steps that must end before it.',
  when:
    'The rule about the needed steps: `all-succeeded` (the default), `all-done`, `any-succeeded`, ' +
    '`any-failed`, `none-failed`, or `always`, which also runs while the workflow is being cancelled.',
  if: 'If it is false, the step is skipped and counts as done.',
  each: 'Runs once for every item of a list. Commands receive the item in the variable `ITEM`.',
  max_parallel: 'The maximum number of items that run at the same time; all by default.',
  finally: 'Runs after all other steps have ended, whatever their state.',
  allow_failure: 'The workflow succeeds even if this step fails.',
  with: 'The input of its run: any JSON, with expressions in it.',
  timeout: 'The maximum duration of an attempt.',
}

export const TRIGGER_FIELD_DOCS: FieldDocs = {
  after: 'Starts a run when a run of that job, or of that step of a workflow, has ended.',
  on: 'How it must have ended: `ok` (the default), `notok`, or `any`.',
  input:
    'The input of the run: any JSON, with expressions about the run that ended, such as ' +
    '`${{ after.output.rows }}`.',
  webhook: 'Starts a run for a signed call of `/v1/hooks/{name}`.',
}

export const PARAMETER_FIELD_DOCS: FieldDocs = {
  type: 'The type of the value.',
  format: 'The format of a text.',
  enum: 'The allowed values; any by default.',
  default:
    'The value if the field is absent: a value, or an expression such as `${{ run.scheduled_at.date }}`.',
  required: 'Whether the field must be present; true by default unless there is a default value.',
  description: 'What it is for.',
}
