/** What an operation does beyond its summary, and examples of what it takes; by method and path. */
interface Remark {
  readonly description?: string
  /** Of the request body. */
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: object }>>
}

const INVOICE = {
  job: 'send-invoice',
  input: { customer: 'c_42' },
  queue: 'mail',
  run_at: '2026-02-01T09:00:00+02:00',
  timeout: '15m',
  retry: { max: 5, delay: '10s', max_delay: '10m' },
  concurrency: [{ key: 'c_42', limit: 1 }],
}
const BACKUP = {
  run: 'pg_dump shop | gzip > /backup/shop.gz',
  timeout: '1h',
  retry: { max: 2 },
}

export const REMARKS: Readonly<Record<string, Remark>> = {
  'POST /v1/runs': {
    description:
      'If the job is defined, the run follows its definition, and what the submission says wins ' +
      'field by field. If it is not, the run is for a function of that name. With `run`, `argv` ' +
      'or `script` it is a process, and takes a token that may define. 201 if the run is new, ' +
      '200 if a key led to one that was there.',
    examples: {
      function: { summary: 'A function, later, with retries', value: INVOICE },
      command: { summary: 'A command line, now', value: BACKUP },
    },
  },
  'POST /v1/runs/{id}/retry': {
    description:
      'Makes a new run, whose `retry_of` names the old one: without a body, of the same work. Of a ' +
      'workflow `only`, `from` and `skip` choose what ' +
      'goes again: the rest is taken over with what came of it, and the wave stays the same. `input` ' +
      'and `version` are a replay: everything again with another input, or as another version has it.',
    examples: {
      failed: { summary: 'What failed, and what depends on it', value: { only: 'failed' } },
      from: { summary: 'A step and what depends on it', value: { from: 'load' } },
      replay: { summary: 'With another input', value: { input: { date: '2026-01-31' } } },
    },
  },
  'POST /v1/runs/{id}/steps/{step}/approve': {
    description:
      'Only while the step waits, and only by tokens whose names stand in its `by`, if any do. ' +
      'Who agreed stands in the record of changes.',
  },
  'POST /v1/runs/{id}/steps/{step}/skip': {
    description:
      'It counts as done for those that need it. Only what has not begun can be skipped: what runs ' +
      'can be cancelled, and what failed is skipped in a retry.',
  },
  'POST /v1/hooks/{name}': {
    description:
      'Runs every job that names the hook among its `triggers`, with the body as its input. The call is ' +
      'signed as Standard Webhooks has it, with the secret `HOOK_NAME` of the project; sent again with ' +
      'the same `webhook-id` it leads to the same runs. Jobs that are paused are left out.',
  },
  'POST /v1/runs:batch': {
    description:
      'A run that breaks the rules refuses the whole batch before anything is stored. What only ' +
      'the store can tell stands in the place of that run, and the others are stored. With ' +
      '`Idempotency-Key: k` the runs have the keys `k#0`, `k#1`, …',
    examples: {
      two: {
        summary: 'Two runs of one job',
        value: {
          runs: [
            { job: 'resize', input: 1 },
            { job: 'resize', input: 2 },
          ],
        },
      },
    },
  },
  'GET /v1/runs': {
    description:
      'Runs that arrive meanwhile do not shift the pages. A page may be short, or empty, and ' +
      'still have a next one: no request looks at more than some thousand runs.',
  },
  'POST /v1/runs/{id}/cancel': {
    description:
      'A waiting run is cancelled at once. The worker of a running one is told to stop it and ' +
      'reports the end.',
  },
  'GET /v1/runs/{id}/logs/search': {
    description:
      'Lines that have `q`, a text or (`mode=regex`) an expression in the syntax of RE2, which takes ' +
      'time in proportion to the log, whatever it is. Colours are not seen. A page ends with `limit` ' +
      'lines or after two seconds: go on with `next_line` until `complete`.',
  },
  'GET /v1/runs/{id}/logs/raw': {
    description: 'Byte for byte, as text or not.',
  },
  'GET /v1/runs/{id}/logs/follow': {
    description:
      'Server-sent events: `output` with `{attempt, started_at, entries: [[ms, stream, text], …]}` ' +
      'as it is printed, and at last `end` with `{state, exit_code, signal}`. A connection that ' +
      'breaks is taken up again with `Last-Event-ID`. A slow reader gets everything, later; with ' +
      '`skip=true` it stays close to the end, and `skipped` with `{attempt, chunks}` says what it missed.',
  },
  'GET /v1/events': {
    description:
      'Server-sent events: `hello` first, then `run` with a run as lists show it, without `work`, ' +
      '`input` and `result`, whenever it changed, `run.progress` with `{id, progress}` when it says how ' +
      'far it is, and `reset` when something may have been missed. ' +
      'With `Last-Event-ID` a stream goes on where an earlier one ended.',
  },
  'PUT /v1/jobs/{name}': {
    description:
      'Every change is a new version. A run follows the version that was in force when it was ' +
      'submitted. 201 if the job is new. With `schedule`, the job has these schedules and no others ' +
      'from its definition; those that did not change keep their version.',
    examples: {
      command: { summary: 'A nightly backup', value: { ...BACKUP, owner: 'data team' } },
      function: {
        summary: 'A function of some worker',
        value: { task: 'send-invoice', queue: 'mail', retry: { max: 5, delay: '10s' } },
      },
    },
  },
  'PUT /v1/jobs/{name}/schedules/{schedule}': {
    description:
      'The job must be defined. What is left out is as usual, and stands in the answer. A schedule that ' +
      'says the same as before keeps its version.',
    examples: {
      words: { summary: 'In words', value: { every: 'weekdays at 09:05', zone: 'Europe/Athens' } },
      cron: {
        summary: 'As cron, with everything',
        value: {
          ...{ cron: '0 2 * * 1-6', zone: 'Europe/Athens', jitter: '2m', overlap: 'skip' },
          ...{ missed: { policy: 'all', max_age: '6h', max_count: 10 }, input: { full: false } },
        },
      },
    },
  },
  'POST /v1/jobs/{name}/schedules/{schedule}/pause': {
    description: 'What comes due meanwhile is not forgotten: it is written down as skipped.',
  },
  'GET /v1/jobs/{name}/schedules/{schedule}/occurrences': {
    description:
      'In the order of time: what became of every time in the range, and the times to come. Many that ' +
      'went the same way are told as one range.',
  },
  'GET /v1/schedules': {
    description: 'A page may be short, or empty, and still have a next one.',
  },
  'POST /v1/schedules/preview': {
    description: 'Nothing is stored.',
    examples: {
      night: {
        summary: 'What happens to it when clocks change',
        value: { cron: '30 2 * * *', zone: 'Europe/Berlin', count: 3 },
      },
    },
  },
  'GET /v1/away': {
    description: 'For those who were away, or whose servers were: by schedule, in figures.',
  },
  'POST /v1/jobs/{name}/schedules/{schedule}/backfill': {
    description:
      'Runs for times that are over, each with its time as `due_at`. What became of these times when they ' +
      'came due stays in the record. It goes on by itself, also after a restart, until it is done or ' +
      'cancelled. With `dry_run` it is answered what would be done, with 200.',
    examples: {
      week: {
        summary: 'What was missed in a week, newest first',
        value: {
          ...{ from: '2026-11-01T00:00:00Z', until: '2026-11-08T00:00:00Z' },
          ...{ order: 'reverse', max_parallel: 2 },
        },
      },
    },
  },
  'POST /v1/backfills/{id}/cancel': {
    description: 'Runs that it has made already go on. One that is over stays as it is.',
  },
  'GET /v1/forecast': {
    description:
      'What the schedules of a project, or of a `job`, are going to do in the next `days`: how often they ' +
      'fire, what falls together, how much is under way if runs take as long as the last ones did, and ' +
      'the nights in which clocks change. It is as if every run began in time.',
  },
  'DELETE /v1/jobs/{name}': {
    description: 'A job that has runs which have not ended is not deleted.',
  },
  'POST /v1/jobs/{name}/runs': {
    description: 'What the request says wins over the definition, field by field.',
    examples: {
      plain: { summary: 'As it is defined', value: {} },
      input: { summary: 'With an input, before others', value: { input: { day: 1 }, priority: 5 } },
    },
  },
  'PATCH /v1/queues/{name}': {
    description: 'What is left out stays as it is.',
    examples: { rest: { summary: 'Take nothing from it', value: { paused: true } } },
  },
  'POST /v1/tokens': {
    description: 'This answer alone shows the token; the database holds its digest.',
    examples: {
      ci: {
        summary: 'For a pipeline, for a year',
        value: { name: 'ci', role: 'operator', expires_at: '2027-01-01T00:00:00Z' },
      },
    },
  },
  'DELETE /v1/tokens/{id}': {
    description: 'All nodes refuse it within five seconds.',
  },
  'GET /v1/audit': {
    description:
      'Every change that is not a run. It is written in the transaction that makes the change; ' +
      'who submitted a run is kept with the run.',
  },
  'POST /v1/workers': {
    description:
      'A worker that loses its server registers again, anywhere, under the same `session`, with ' +
      'the next `registration` and what it still holds.',
    examples: {
      first: {
        summary: 'A worker for one function',
        value: {
          name: 'web-1',
          queues: ['mail', 'default'],
          labels: {},
          executors: ['handler:send-invoice'],
          slots: 8,
          registration: 1,
          held: [],
          forsaken: [],
        },
      },
    },
  },
  'POST /v1/workers/{session}/exchange': {
    description:
      'Finished attempts go out and new ones come in, in one round trip. While there is nothing ' +
      'to run, the answer is held for up to `wait_ms`.',
    examples: {
      poll: {
        summary: 'Ask for one attempt',
        value: { registration: 1, number: 1, answered: 0, done: [], free: 1, wait_ms: 20_000 },
      },
    },
  },
  'POST /v1/workers/{session}/leave': {
    description: 'What the session still holds is given back, and the attempt is not counted.',
  },
  'POST /jobs': {
    description:
      'Each is a job of its own, whatever others are called. It waits in the queue `plain`, which ' +
      'plain workers serve.',
    examples: {
      once: { summary: 'Once, now', value: { name: 'Hello', command: 'echo hello' } },
      nightly: {
        summary: 'Every night',
        value: { name: 'Backup', command: './backup.sh', schedule: '0 2 * * *' },
      },
    },
  },
  'GET /jobs': {
    description:
      'Those of the project by number; with `X-User-ID`, those of that user, as they were submitted.',
  },
  'GET /workers/{id}/next': {
    description:
      '204 if there is none. Any request of a worker is a heartbeat: one that says nothing for 20 s ' +
      'loses its job to another.',
  },
  'POST /jobs/{id}/log': {
    description: '409 if the job is not, or no longer, in the hands of this worker.',
  },
  'POST /submit': {
    description:
      'Under `--open` projects are made on sight; with a token, `project_id` must be one that the ' +
      'token may use.',
    examples: {
      command: {
        summary: 'A command every five minutes, with retries',
        value: {
          project_id: 'default',
          payload: 'cmd:./report.sh',
          cron_schedule: '@every 5m',
          max_retries: 3,
        },
      },
    },
  },
  'GET /readyz': {
    description: '503 with the reason while this node cannot take requests.',
  },
}
