import { get, post, type RawRequest, type Refusal, refuses } from '../api/refusals.ts'

const UUID = '123e4567-e89b-12d3-a456-426614174000'
const ada = { 'x-user-id': 'ada' }

const job = (more: object) => post('/jobs', { name: 'x', command: 'true', ...more })
const submission = (more: object, headers: object = ada) =>
  post('/submit', { project_id: 'default', payload: 'cmd:true', ...more }, headers)
const raw = (path: string, body: string, headers: object = {}): RawRequest =>
  post(path, Buffer.from(body), { 'content-type': 'application/json', ...headers })
const report = (id: string, more: object) =>
  post(`/jobs/${id}/log`, { worker_id: 'w', status: 'running', ...more })

/** What is no recurrence, and is refused wherever one is asked for. */
const RECURRENCES: [why: string, text: string][] = [
  ['too few fields', '* * *'],
  ['too many fields', '* * * * * * *'],
  ['a minute that no hour has', '61 * * * *'],
  ['a second that no minute has', '60 * * * * *'],
  ['an hour that no day has', '0 24 * * *'],
  ['a day that no month has', '0 0 32 * *'],
  ['a day that this month never has', '0 0 30 2 *'],
  ['a month beyond the year', '0 0 1 13 *'],
  ['a range backwards', '30-10 * * * *'],
  ['a step of nothing', '*/0 * * * *'],
  ['words for numbers', 'a b c d e'],
  ['a nickname nobody knows', '@fortnightly'],
  ['a start of the machine', '@reboot'],
  ['no interval', '@every'],
  ['an interval of nothing', '@every 0s'],
  ['an interval below a second', '@every 10ms'],
  ['an interval without a unit', '@every 5'],
  ['an interval that goes back', '@every -5m'],
  ['a zone that is nowhere', 'CRON_TZ=Mars/Olympus 0 0 * * *'],
  ['a zone and nothing else', 'CRON_TZ=Europe/Berlin'],
  ['a date that is over', '2001-01-01T00:00:00Z'],
  ['a date that no calendar has', '2999-02-30T00:00:00Z'],
  ['a command', 'rm -rf /'],
  ['other digits', '٣ * * * *'],
  ['nothing that ends', `${'1,'.repeat(5_000)}1 * * * *`],
]

const TIMES: [why: string, text: string][] = [
  ['no zone', '2999-01-01T00:00:00'],
  ['no time', '2999-01-01'],
  ['no such day', '2999-02-30T00:00:00Z'],
  ['no such hour', '2999-01-01T25:00:00Z'],
  ['words', 'tomorrow'],
  ['seconds since 1970', '1700000000'],
]

refuses('jobs that cannot be are refused, each with the field that is wrong', [
  ...RECURRENCES.map(([why, schedule]): Refusal => [
    why,
    job({ schedule }),
    'invalid_schedule',
    'schedule',
  ]),
  ['no name', post('/jobs', { command: 'true' }), 'missing_field', 'name'],
  ['an empty name', job({ name: '' }), 'invalid_field', 'name'],
  ['a name without end', job({ name: 'x'.repeat(129) }), 'invalid_field', 'name'],
  ['a number for a name', job({ name: 1 }), 'invalid_field', 'name'],
  ['no command', post('/jobs', { name: 'x' }), 'missing_field', 'command'],
  ['an empty command', job({ command: '' }), 'invalid_field', 'command'],
  ['blanks for a command', job({ command: ' \n' }), 'invalid_field', 'command'],
  ['a list for a command', job({ command: ['ls'] }), 'invalid_field', 'command'],
  ['a command no system takes', job({ command: 'x'.repeat(200_000) }), 'invalid_field', 'command'],
  ['a number for a schedule', job({ schedule: 5 }), 'invalid_field', 'schedule'],
  ['a field that is misspelt', job({ scheduel: '@daily' }), 'unknown_field', 'scheduel'],
  ['half of JSON', raw('/jobs', '{"name":'), 'invalid_json'],
  ['a list', raw('/jobs', '[]'), 'invalid_field'],
  ['no JSON', post('/jobs', 'x', { 'content-type': 'text/plain' }), 'unsupported_media_type'],
  ['a body without end', raw('/jobs', `{"name":"${'x'.repeat(1_100_000)}"}`), 'body_too_large'],
  ['a job that is not there', get('/jobs/999999'), 'job_not_found'],
  ['a job that cannot be', get('/jobs/99999999999999999999'), 'job_not_found'],
  ['a job by name', get('/jobs/known'), 'job_not_found'],
  ['a page of nothing', get('/jobs?limit=0'), 'invalid_field', 'limit'],
  ['a page after nothing', get('/jobs?before=x'), 'job_not_found'],
  ['a parameter nobody reads', get('/jobs?offset=5'), 'unknown_field', 'offset'],
])

refuses('submissions that cannot be are refused, each with the field that is wrong', [
  ...RECURRENCES.map(([why, text]): Refusal => [
    why,
    submission({ cron_schedule: text }),
    'invalid_schedule',
    'cron_schedule',
  ]),
  ...TIMES.map(([why, text]): Refusal => [
    why,
    submission({ next_fire_at: text }),
    'invalid_field',
    'next_fire_at',
  ]),
  ['nobody', submission({}, {}), 'invalid_request', 'X-User-ID'],
  ['an empty user', submission({}, { 'x-user-id': ' ' }), 'invalid_request', 'X-User-ID'],
  ['a long user', submission({}, { 'x-user-id': 'x'.repeat(129) }), 'invalid_request', 'X-User-ID'],
  ['no project', post('/submit', { payload: 'x' }, ada), 'missing_field', 'project_id'],
  ['a path for a project', submission({ project_id: '../x' }), 'invalid_field', 'project_id'],
  ['a project nobody made', submission({ project_id: 'unheard' }), 'invalid_field', 'project_id'],
  ['no payload', post('/submit', { project_id: 'default' }, ada), 'missing_field', 'payload'],
  ['an object for a payload', submission({ payload: {} }), 'invalid_field', 'payload'],
  ['a command of nothing', submission({ payload: 'cmd:' }), 'invalid_field', 'payload'],
  ['half a retry', submission({ max_retries: 0.5 }), 'invalid_field', 'max_retries'],
  ['fewer retries than none', submission({ max_retries: -1 }), 'invalid_field', 'max_retries'],
  ['retries without end', submission({ max_retries: 1e9 }), 'invalid_field', 'max_retries'],
  ['text for retries', submission({ max_retries: '3' }), 'invalid_field', 'max_retries'],
  ['a field nobody knows', submission({ cron: '@daily' }), 'unknown_field', 'cron'],
  ['half of JSON', raw('/submit', '{', ada), 'invalid_json'],
  ['a job of nobody', get(`/job?id=${UUID}`), 'invalid_request', 'X-User-ID'],
  ['a job that is not there', get(`/job?id=${UUID}`, ada), 'job_not_found'],
  ['a job by number', get('/job?id=1', ada), 'job_not_found'],
  ['no job at all', get('/job', ada), 'missing_field', 'id'],
  ['users without a name', get('/jobs', { 'x-user-id': '' }), 'invalid_request', 'X-User-ID'],
])

refuses('workers that cannot be are refused, and reports that make no sense', [
  ['no worker', post('/workers/register', {}), 'missing_field', 'worker_id'],
  [
    'a worker without a name',
    post('/workers/register', { worker_id: '' }),
    'invalid_field',
    'worker_id',
  ],
  [
    'a path for a worker',
    post('/workers/register', { worker_id: 'a/b' }),
    'invalid_field',
    'worker_id',
  ],
  [
    'a number for a worker',
    post('/workers/register', { worker_id: 1 }),
    'invalid_field',
    'worker_id',
  ],
  ['a worker that never came', post('/workers/heartbeat', { worker_id: 'w' }), 'worker_not_found'],
  ['work for one that never came', get('/workers/w/next'), 'worker_not_found'],
  ['work for no name', get('/workers/%20/next'), 'invalid_field', 'id'],
  ['a wait that is none', get('/workers/w/next?wait=long'), 'invalid_field', 'wait'],
  ['a report of one that never came', report('1', {}), 'worker_not_found'],
  ['a report of no job', report('x', {}), 'job_not_found'],
  ['a report without a status', post('/jobs/1/log', { worker_id: 'w' }), 'missing_field', 'status'],
  ['a status nobody knows', report('1', { status: 'done' }), 'invalid_field', 'status'],
  ['a list for logs', report('1', { logs: ['x'] }), 'invalid_field', 'logs'],
  ['logs without end', report('1', { logs: 'x'.repeat(5_000_000) }), 'body_too_large'],
  ['half of JSON', raw('/jobs/1/log', '{'), 'invalid_json'],
])
