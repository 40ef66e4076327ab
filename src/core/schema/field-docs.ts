/**
 * What the fields of a job are for. The schemas say what they must be; a refusal needs no more than
 * that, a newcomer does. Read by the API reference and by whoever writes a file with an editor that helps.
 */
type Meanings = Readonly<Record<string, string>>

export const OF_RUNS: Meanings = {
  queue: 'The queue it waits in; `default` if absent.',
  priority: 'Of two runs that could start, the one with the higher priority does.',
  runs_on: 'Only on workers that carry all of these labels.',
  weight: 'How many slots of a worker it takes; 1 if absent.',
  timeout: 'How long an attempt may take before it is stopped.',
  retry: 'What happens when an attempt goes wrong.',
  on_lost:
    'What happens when the worker vanishes: another attempt, or with `fail` none, so that nothing ' +
    'is ever started twice.',
  concurrency: 'At most `limit` runs with the same `key` are ready or running at once.',
  tags: 'Words of your own, to find it by.',
}

export const EXECUTED: Meanings = {
  task: 'The function to call, if it is not named like the job.',
  run: 'A command line for a shell.',
  shell: 'The shell that reads `run`; `/bin/sh` if absent.',
  argv: 'A program and its arguments, started without a shell.',
  script: 'A script, stored with the run.',
  interpreter: 'The program that reads `script`, or it and its arguments; `/bin/sh` if absent.',
  http:
    'A request to send: `url`, `method`, `headers`, `body`, `expect` (statuses that are a success, ' +
    'such as `200-299,304`), `max_response` and `redirects`.',
  container:
    'A container to run: `image`, `command`, `entrypoint`, `mounts`, `workdir`, `user`, `network` ' +
    'and `pull`.',
  cwd: 'The directory it starts in, as an absolute path.',
  env: 'Variables of its environment, besides those of the worker.',
  stdin: 'What it reads from its standard input.',
  umask: 'The permissions that files it makes do not get, in octal digits.',
  kill_grace: 'How long it has between the polite signal and the other one.',
  limits:
    'How much of its machine an attempt may take: `memory`, `cpu` (cores), `pids`, open `files`, ' +
    '`output` that is kept, and `tmp`, its temporary directory.',
  run_as: 'The user it runs as. Only on workers that allow this user.',
  secrets:
    'Secrets it is given when it starts, by name: in a variable of that name, or with `as: file` in ' +
    'a file whose path is in the variable `<name>_FILE`. They are masked in what it prints.',
}

const EXPECTED: Meanings = {
  deadline:
    'So long after its time a run should have ended (`30m`), or by which time on the clocks of its zone ' +
    '(`05:30`); later, its occurrence is `overdue`, with a lapse that is `unfinished`.',
  expect:
    'So long after its time a run should have started (`start`), so long it may take (`duration`; `2x` is ' +
    'twice what it usually takes), and that a success prints something or gives a result (`output`).',
}

export const SCHEDULE: Meanings = {
  cron:
    'When, as cron: five fields, or six with seconds first; names, `L`, `W`, `#`, `H`, `@daily`, ' +
    '`@every 90s`.',
  every:
    'When, in words: `15m`, `weekdays at 09:05`, `every 15 minutes between 08:00 and 18:00`, ' +
    '`5m after finish`.',
  at: 'When, once: a date and a time; without an offset on the clocks of `zone`.',
  zone: 'The IANA zone whose clocks count; the server’s own if absent.',
  dst:
    'What becomes of times that clocks jump over (`gap`: `run-after` the jump, or `skip`) and of those ' +
    'that come twice (`repeat`: `first`, `both` or `last`).',
  start: 'Nothing fires before; intervals are counted from here.',
  end: 'Nothing fires after.',
  jitter: 'Fires are up to so much later, always alike for the same time.',
  overlap:
    'What happens while a run of it has not ended: `skip` the time, `queue(n)` up to n that wait, ' +
    '`replace` what runs, or `allow` both; `queue(1)` if absent.',
  missed:
    'What happens to times nobody was there for: `skip` them, make up for the `latest` or for `all`. As ' +
    'an object also with `max_age`, and for `all` with `max_count` and `every`, the least time between ' +
    'two; `latest` of the last 24 h if absent.',
  input: 'Handed to its runs: any JSON of at most 64 KiB.',
  priority: 'Of its runs, if it is not that of the job.',
  ...EXPECTED,
}

export const RETRY: Meanings = {
  max: 'How many attempts may follow the first one.',
  backoff: 'How the delay grows from one attempt to the next.',
  delay: 'How long to wait before the second attempt.',
  max_delay: 'The delay grows no further than this.',
  jitter: 'The share of the delay that varies by chance, so that not all come back at once.',
  on: 'Which ends of an attempt are worth another one.',
}

export const JOB: Meanings = {
  title: 'What people call it.',
  description: 'What it does, for people; Markdown is welcome.',
  owner: 'Whom to ask about it.',
  source:
    'The folder of files it comes from; `punctual apply --prune` deletes only jobs of its own.',
  schedule: 'When it runs by itself.',
  deadline: 'For all of its schedules that do not say their own.',
  expect: 'For all of its schedules, field by field where they do not say their own.',
  triggers:
    'What else starts it: another job that ended (`after`), or a signed call of `/v1/hooks/{name}` (`webhook`).',
  input: 'What its runs are given: the fields, their types and what is taken if they are absent.',
  ...OF_RUNS,
  concurrency:
    'At most `limit` runs with the same `key` at once; without a key, runs of this job. A workflow has ' +
    'one at a time if absent; `none` lets any number overlap.',
  ...EXECUTED,
  steps:
    'A workflow. A list runs top to bottom; an object is a graph, wired by `needs`. What stands beside ' +
    'it (`env`, `queue`, `retry` …) goes for every step that does not say otherwise.',
  output:
    'What a workflow gives when it has ended well: a value with expressions over its steps. Nothing, `null`, if absent.',
}

const { concurrency: _, tags: __, ...ofStepRuns } = OF_RUNS

export const STEP: Meanings = {
  name: 'What it is called; only in a list, and `step-1` by its place if absent.',
  description: 'What it does, for people.',
  ...EXECUTED,
  ...ofStepRuns,
  task: 'The function to call.',
  job: 'Another job to run. Its run is the step.',
  approve:
    'Somebody has to agree before it goes on: `by` whom, with which `message`, until when (`timeout`), ' +
    'and what they are asked (`input`).',
  needs: 'The steps that come before it.',
  when:
    'What has to have become of them: `all-succeeded` if absent, `all-done`, `any-succeeded`, ' +
    '`any-failed`, `none-failed`, or `always`, which also runs while the workflow is being cancelled.',
  if: 'Skipped where it is false, and then as good as done.',
  each: 'Runs once for every item of a list. Commands find theirs in the variable `ITEM`.',
  max_parallel: 'Of the items, so many at once; all if absent.',
  finally: 'Runs when everything else has ended, however it ended.',
  allow_failure: 'The workflow succeeds even if this step fails.',
  with: 'The input of its run: any JSON, with expressions in it.',
  timeout: 'How long an attempt of it may take before it is stopped.',
}

export const TRIGGER: Meanings = {
  after: 'Runs it when a run of that job has ended, or a run of that step of a workflow.',
  on: 'How that has to have ended: `ok`, which is taken if absent, `notok`, or `any`.',
  input:
    'What the run is given: any JSON, with expressions about the run that ended, such as ' +
    '`${{ after.output.rows }}`.',
  webhook: 'Runs it when somebody calls `/v1/hooks/{name}`, signed.',
}

export const PARAMETER: Meanings = {
  type: 'What kind of value it is.',
  format: 'What kind of text it is.',
  enum: 'The values it may have; any if absent.',
  default:
    'What is taken if it is absent: a value, or an expression such as `${{ run.scheduled_at.date }}`.',
  required: 'Whether it must be there; true if absent, unless there is a default.',
  description: 'What it is for.',
}
