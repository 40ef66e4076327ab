import {
  getRequest,
  postRequest,
  type RawRequest,
  type Refusal,
  assertRefused,
} from '../api/refusals.ts'

const UUID = '123e4567-e89b-12d3-a456-426614174000'
const ada = { 'x-user-id': 'ada' }

const job = (more: object) => postRequest('/jobs', { name: 'x', command: 'true', ...more })
const submission = (more: object, headers: object = ada) =>
  postRequest('/submit', { project_id: 'default', payload: 'cmd:true', ...more }, headers)
const raw = (path: string, body: string, headers: object = {}): RawRequest =>
  postRequest(path, Buffer.from(body), { 'content-type': 'application/json', ...headers })
const report = (id: string, more: object) =>
  postRequest(`/jobs/${id}/log`, { worker_id: 'w', status: 'running', ...more })

/** Invalid recurrences, refused in every field that takes one. */
const RECURRENCES: [why: string, text: string][] = [
  ['too few fields', '* * *'],
  ['too many fields', '* * * * * * * *'],
  ['a minute that no hour has', '61 * * * *'],
  ['a second that no minute has', '60 * * * * *'],
  ['an hour that no day has', '0 24 * * *'],
  ['a day that no month has', '0 0 32 * *'],
  ['a day that this month never has', '0 0 30 2 *'],
  ['a month beyond the year', '0 0 1 13 *'],
  ['a range backwards', '30-10 * * * *'],
  ['a step of nothing', '*/0 * * * *'],
  ['words for numbers', 'a b c d e'],
  ['an unknown nickname', '@fortnightly'],
  ['a start of the machine', '@reboot'],
  ['no interval', '@every'],
  ['an empty interval', '@every 0s'],
  ['an interval below a second', '@every 10ms'],
  ['an interval without a unit', '@every 5'],
  ['a negative interval', '@every -5m'],
  ['an unknown zone', 'CRON_TZ=Mars/Olympus 0 0 * * *'],
  ['a zone and nothing else', 'CRON_TZ=Europe/Berlin'],
  ['a date in the past', '2001-01-01T00:00:00Z'],
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

assertRefused('jobs that cannot be are refused, each with the field that is wrong', [
  ...RECURRENCES.map(([why, schedule]): Refusal => [
    why,
    job({ schedule }),
    'invalid_schedule',
    'schedule',
  ]),
  ['no name', postRequest('/jobs', { command: 'true' }), 'missing_field', 'name'],
  ['an empty name', job({ name: '' }), 'invalid_field', 'name'],
  ['a name without end', job({ name: 'x'.repeat(129) }), 'invalid_field', 'name'],
  ['a number for a name', job({ name: 1 }), 'invalid_field', 'name'],
  ['no command', postRequest('/jobs', { name: 'x' }), 'missing_field', 'command'],
  ['an empty command', job({ command: '' }), 'invalid_field', 'command'],
  ['blanks for a command', job({ command: ' \n' }), 'invalid_field', 'command'],
  ['a list for a command', job({ command: ['ls'] }), 'invalid_field', 'command'],
  [
    'a command longer than any system allows',
    job({ command: 'x'.repeat(200_000) }),
    'invalid_field',
    'command',
  ],
  ['a number for a schedule', job({ schedule: 5 }), 'invalid_field', 'schedule'],
  ['a field that is misspelt', job({ scheduel: '@daily' }), 'unknown_field', 'scheduel'],
  ['half of JSON', raw('/jobs', '{"name":'), 'invalid_json'],
  ['a list', raw('/jobs', '[]'), 'invalid_field'],
  [
    'no JSON',
    postRequest('/jobs', 'x', { 'content-type': 'text/plain' }),
    'unsupported_media_type',
  ],
  ['a body without end', raw('/jobs', `{"name":"${'x'.repeat(1_100_000)}"}`), 'body_too_large'],
  ['a missing job', getRequest('/jobs/999999'), 'job_not_found'],
  ['a job that cannot be', getRequest('/jobs/99999999999999999999'), 'job_not_found'],
  ['a job by name', getRequest('/jobs/known'), 'job_not_found'],
  ['a page of nothing', getRequest('/jobs?limit=0'), 'invalid_field', 'limit'],
  ['a page after nothing', getRequest('/jobs?before=x'), 'job_not_found'],
  ['an unknown parameter', getRequest('/jobs?offset=5'), 'unknown_field', 'offset'],
])

assertRefused('submissions that cannot be are refused, each with the field that is wrong', [
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
  ['no project', postRequest('/submit', { payload: 'x' }, ada), 'missing_field', 'project_id'],
  ['a path for a project', submission({ project_id: '../x' }), 'invalid_field', 'project_id'],
  ['an unknown project', submission({ project_id: 'unheard' }), 'invalid_field', 'project_id'],
  [
    'no payload',
    postRequest('/submit', { project_id: 'default' }, ada),
    'missing_field',
    'payload',
  ],
  ['an object for a payload', submission({ payload: {} }), 'invalid_field', 'payload'],
  ['an empty command', submission({ payload: 'cmd:' }), 'invalid_field', 'payload'],
  ['half a retry', submission({ max_retries: 0.5 }), 'invalid_field', 'max_retries'],
  ['a negative number of retries', submission({ max_retries: -1 }), 'invalid_field', 'max_retries'],
  ['retries without end', submission({ max_retries: 1e9 }), 'invalid_field', 'max_retries'],
  ['text for retries', submission({ max_retries: '3' }), 'invalid_field', 'max_retries'],
  ['an unknown field', submission({ cron: '@daily' }), 'unknown_field', 'cron'],
  ['half of JSON', raw('/submit', '{', ada), 'invalid_json'],
  [
    'a job of a user without a name',
    getRequest(`/job?id=${UUID}`, { 'x-user-id': '' }),
    'invalid_request',
    'X-User-ID',
  ],
  ['a missing job of any user', getRequest(`/job?id=${UUID}`), 'job_not_found'],
  ['a missing job', getRequest(`/job?id=${UUID}`, ada), 'job_not_found'],
  ['a job by number', getRequest('/job?id=1', ada), 'job_not_found'],
  ['no job at all', getRequest('/job', ada), 'missing_field', 'id'],
  [
    'users without a name',
    getRequest('/jobs', { 'x-user-id': '' }),
    'invalid_request',
    'X-User-ID',
  ],
])

assertRefused('workers that cannot be are refused, and reports that make no sense', [
  ['no worker', postRequest('/workers/register', {}), 'missing_field', 'worker_id'],
  [
    'a worker without a name',
    postRequest('/workers/register', { worker_id: '' }),
    'invalid_field',
    'worker_id',
  ],
  [
    'a path for a worker',
    postRequest('/workers/register', { worker_id: 'a/b' }),
    'invalid_field',
    'worker_id',
  ],
  [
    'a number for a worker',
    postRequest('/workers/register', { worker_id: 1 }),
    'invalid_field',
    'worker_id',
  ],
  ['an unknown worker', postRequest('/workers/heartbeat', { worker_id: 'w' }), 'worker_not_found'],
  ['work for an unknown worker', getRequest('/workers/w/next'), 'worker_not_found'],
  ['work for no name', getRequest('/workers/%20/next'), 'invalid_field', 'id'],
  ['an invalid wait', getRequest('/workers/w/next?wait=long'), 'invalid_field', 'wait'],
  [
    'an unknown kind of empty answer',
    getRequest('/workers/w/next?empty=xml'),
    'invalid_field',
    'empty',
  ],
  ['an exit code in words', report('1', { exit_code: 'one' }), 'invalid_field', 'exit_code'],
  ['half an exit code', report('1', { exit_code: 0.5 }), 'invalid_field', 'exit_code'],
  ['an invalid exit code', report('1', { exit_code: 2 ** 32 }), 'invalid_field', 'exit_code'],
  ['a report of an unknown worker', report('1', {}), 'worker_not_found'],
  ['a report of no job', report('x', {}), 'job_not_found'],
  [
    'a report without a status',
    postRequest('/jobs/1/log', { worker_id: 'w' }),
    'missing_field',
    'status',
  ],
  ['an unknown status', report('1', { status: 'done' }), 'invalid_field', 'status'],
  ['a list for logs', report('1', { logs: ['x'] }), 'invalid_field', 'logs'],
  ['logs without end', report('1', { logs: 'x'.repeat(5_000_000) }), 'body_too_large'],
  ['half of JSON', raw('/jobs/1/log', '{'), 'invalid_json'],
])
