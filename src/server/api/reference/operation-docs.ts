/** Details of operations beyond their summary, with example bodies; by method and path. */
interface OperationDocs {
  readonly description?: string
  /** Examples of the request body. */
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

export const OPERATION_DOCS: Readonly<Record<string, OperationDocs>> = {
  'POST /v1/runs': {
    description:
      'If the job is defined, the run follows its definition, and the submission overrides it ' +
      'field by field. If it is not, a handler of that name executes the run. With `run`, `argv` ' +
      'or `script` it is a process, which requires a token that may define jobs. 201 if the run is new, ' +
      '200 if a key matched an existing one.',
    examples: {
      function: { summary: 'A handler, later, with retries', value: INVOICE },
      command: { summary: 'A command line, now', value: BACKUP },
    },
  },
  'POST /v1/runs/{id}/retry': {
    description:
      'Makes a new run, whose `retry_of` names the old one: without a body, with the same work. For a ' +
      'workflow `only`, `from` and `skip` choose what ' +
      'runs again: the other steps are reused with their outputs, and the wave stays the same. `input` ' +
      'and `version` are a replay: everything runs again with another input or another version.',
    examples: {
      failed: { summary: 'Failed steps and those that depend on them', value: { only: 'failed' } },
      from: { summary: 'A step and those that depend on it', value: { from: 'load' } },
      replay: { summary: 'With another input', value: { input: { date: '2026-01-31' } } },
    },
  },
  'POST /v1/runs/{id}/steps/{step}/approve': {
    description:
      'Only while the step waits, and only by the tokens named in its `by`, if it names any. ' +
      'The audit log records who approved.',
  },
  'POST /v1/runs/{id}/steps/{step}/skip': {
    description:
      'It counts as done for the steps that need it. Only a step that has not begun can be skipped: a running ' +
      'one can be cancelled, and a failed one can be skipped in a retry.',
  },
  'POST /v1/hooks/{name}': {
    description:
      'Runs every job that names the hook among its `triggers`, with the body as its input. The call is ' +
      'signed according to Standard Webhooks, with the secret `HOOK_NAME` of the project; a repeated call with ' +
      'the same `webhook-id` returns the same runs. Paused jobs are left out.',
  },
  'POST /v1/runs:batch': {
    description:
      'An invalid run makes the server refuse the whole batch before anything is stored. A refusal that only ' +
      'the store can detect takes the position of that run, and the others are stored. With ' +
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
  'PUT /v1/jobs/{name}': {
    description:
      'Every change makes a new version. A run follows the version that was current when it was ' +
      'submitted. 201 if the job is new. With `schedule`, the definition has exactly these ' +
      'schedules; unchanged ones keep their version.',
    examples: {
      command: { summary: 'A nightly backup', value: { ...BACKUP, owner: 'data team' } },
      function: {
        summary: 'A handler of a worker',
        value: { task: 'send-invoice', queue: 'mail', retry: { max: 5, delay: '10s' } },
      },
    },
  },
  'PUT /v1/jobs/{name}/schedules/{schedule}': {
    description:
      'The job must be defined. Omitted fields get their defaults, which the answer shows. An unchanged ' +
      'schedule keeps its version.',
    examples: {
      words: { summary: 'In words', value: { every: 'weekdays at 09:05', zone: 'Europe/Athens' } },
      cron: {
        summary: 'As cron, with all options',
        value: {
          cron: '0 2 * * 1-6',
          zone: 'Europe/Athens',
          jitter: '2m',
          overlap: 'skip',
          missed: { policy: 'all', max_age: '6h', max_count: 10 },
          input: { full: false },
        },
      },
    },
  },
  'POST /v1/schedules/preview': {
    description: 'Nothing is stored.',
    examples: {
      night: {
        summary: 'What happens when clocks change',
        value: { cron: '30 2 * * *', zone: 'Europe/Berlin', count: 3 },
      },
    },
  },
  'POST /v1/jobs/{name}/schedules/{schedule}/backfill': {
    description:
      'Runs for past times, each with its time as `due_at`. The original outcome of these times ' +
      'stays recorded. The backfill continues by itself, also after a restart, until it is done or ' +
      'cancelled. With `dry_run` the answer is 200 and shows what would be done.',
    examples: {
      week: {
        summary: 'Missed times of a week, newest first',
        value: {
          from: '2026-11-01T00:00:00Z',
          until: '2026-11-08T00:00:00Z',
          order: 'reverse',
          max_parallel: 2,
        },
      },
    },
  },
  'POST /v1/jobs/{name}/runs': {
    description: 'The request overrides the definition field by field.',
    examples: {
      plain: { summary: 'As it is defined', value: {} },
      input: {
        summary: 'With an input and a higher priority',
        value: { input: { day: 1 }, priority: 5 },
      },
    },
  },
  'PATCH /v1/queues/{name}': {
    description: 'Omitted fields do not change.',
    examples: { rest: { summary: 'Pause it', value: { paused: true } } },
  },
  'POST /v1/tokens': {
    description: 'Only this answer shows the token; the database has its digest.',
    examples: {
      ci: {
        summary: 'For a pipeline, for a year',
        value: { name: 'ci', role: 'operator', expires_at: '2027-01-01T00:00:00Z' },
      },
    },
  },
  'POST /v1/webhooks': {
    description: 'Only this answer shows the secret that signs messages.',
    examples: {
      pager: {
        summary: 'Failures and recoveries, to a pager',
        value: {
          name: 'pager',
          url: 'https://pager.example/hook',
          events: ['run.failed', 'run.recovered'],
        },
      },
    },
  },
  'POST /v1/workers': {
    description:
      'A worker that loses its server registers again, anywhere, under the same `session`, with ' +
      'the next `registration` and the attempts it holds. With version 2 of the protocol it also sends the ' +
      'secret of the session. A session belongs to the token that registered it.',
    examples: {
      first: {
        summary: 'A worker with one handler',
        value: {
          name: 'web-1',
          queues: ['mail', 'default'],
          labels: {},
          executors: ['handler:send-invoice'],
          slots: 8,
          protocol: [1, 2],
          registration: 1,
          held: [],
          forsaken: [],
        },
      },
    },
  },
  'POST /v1/workers/{session}/exchange': {
    description:
      'Reports finished attempts and fetches new ones in one round trip. While there is nothing ' +
      'to run, the answer is delayed by up to `wait_ms`.',
    examples: {
      poll: {
        summary: 'Ask for one attempt',
        value: { registration: 1, number: 1, answered: 0, done: [], free: 1, wait_ms: 20_000 },
      },
    },
  },
  'POST /jobs': {
    description:
      'Each request makes a job of its own; names need not be unique. It waits in the queue `plain`, which ' +
      'compatibility workers serve.',
    examples: {
      once: { summary: 'Once, now', value: { name: 'Hello', command: 'echo hello' } },
      nightly: {
        summary: 'Every night',
        value: { name: 'Backup', command: './backup.sh', schedule: '0 2 * * *' },
      },
    },
  },
  'POST /submit': {
    description:
      'Without `X-User-ID`, 400 with a token; under `--open` the job belongs to `anonymous`. ' +
      'Under `--open` an unknown project is created; with a token, `project_id` must be one that the ' +
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
}
