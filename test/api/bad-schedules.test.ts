import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openApi } from './open-api.ts'
import { postRequest, putRequest, type Refusal, assertRefused, times } from './refusals.ts'

const AT = '/v1/jobs/known/schedules/s'
const ATHENS = 'Europe/Athens'

/** By itself, in a preview, alone in a job and second in a list: the same message, the right field. */
function everywhere(
  why: string,
  schedule: object,
  field: string,
  code: Refusal[2] = 'invalid_schedule',
): Refusal[] {
  const good = { every: '5m' }
  return [
    [why, putRequest(AT, schedule), code, field],
    [`${why}, tried`, postRequest('/v1/schedules/preview', schedule), code, field],
    [
      `${why}, in a job`,
      putRequest('/v1/jobs/new', { run: 'a', schedule }),
      code,
      `schedule.${field}`,
    ],
    [
      `${why}, in a list`,
      putRequest('/v1/jobs/new', { run: 'a', schedule: [good, schedule] }),
      code,
      `schedule.1.${field}`,
    ],
  ]
}

const crons = (...texts: string[]): Refusal[] =>
  texts.map((cron) => [
    `cron ${cron.slice(0, 40)}`,
    putRequest(AT, { cron }),
    'invalid_schedule',
    'cron',
  ])
const words = (...texts: string[]): Refusal[] =>
  texts.map((every) => [`every ${every}`, putRequest(AT, { every }), 'invalid_schedule', 'every'])
const zones = (...texts: string[]): Refusal[] =>
  texts.map((zone) => [
    `zone ${JSON.stringify(zone)}`,
    putRequest(AT, { cron: '0 9 * * *', zone }),
    'invalid_schedule',
    'zone',
  ])
const instants = (...texts: string[]): Refusal[] =>
  texts.map((at) => [`at ${at}`, putRequest(AT, { at, zone: ATHENS }), 'invalid_schedule', 'at'])
const not = (field: string, code: Refusal[2], ...values: unknown[]): Refusal[] =>
  values.map((value) => [
    `${field} ${JSON.stringify(value)?.slice(0, 40)}`,
    putRequest(AT, { every: '5m', [field]: value }),
    code,
    field,
  ])

assertRefused('a bad rule is refused wherever it stands', [
  ...everywhere('minute 61', { cron: '61 * * * *' }, 'cron'),
  ...everywhere('a zone with a letter too few', { cron: '@daily', zone: 'Europe/Athen' }, 'zone'),
  ...everywhere('30 February', { at: '2027-02-30T00:00:00Z' }, 'at'),
  ...everywhere('unknown words', { every: 'now and then' }, 'every'),
  ...everywhere('no time field', {}, 'cron'),
  ...everywhere('two time fields', { cron: '@daily', every: '5m' }, 'cron'),
  ...everywhere('an end before the start', { every: '1h', ...between(2_030, 2_029) }, 'end'),
  ...everywhere('what is over', { every: '1h', ...between(2_020, 2_021) }, 'end'),
  ...everywhere('an unknown overlap', { every: '1h', overlap: 'wait' }, 'overlap'),
  ...everywhere('text for a number', { cron: 5 }, 'cron', 'invalid_field'),
  ...everywhere('a typing mistake', { every: '1h', overlp: 'skip' }, 'overlp', 'unknown_field'),
])

function between(first: number, last: number) {
  return { start: `${first}-01-01T00:00:00Z`, end: `${last}-01-01T00:00:00Z` }
}

assertRefused('cron, fields and reasons', [
  ...crons('', '*', '* * * *', '* * * * * * * *', '60 * * * *', '* 24 * * *', '* * 0 * *'),
  ...crons('* * 32 * *', '* * * 13 *', '* * * * 8', '*/0 * * * *', '5-1 * * * *', '1,,2 * * * *'),
  ...crons('a b c d e', '* * * foo *', '* * * * mondy', '٣ * * * *', '0 0 30 2 *', '0 0 31 4,6 *'),
  ...crons('@dayly', '@every', '@every 0s', '@every 10', '@reboot'),
  ...crons(`${'1,'.repeat(5_000)}1 * * * *`, '1e1 * * * *', '-1 * * * *', '99999999999 * * * *'),
])

assertRefused('words, intervals and delays', [
  ...words('', 'sometimes', '5', '0s', '-5m', '500ms', '5 parsecs', 'weekdays at 25:00'),
  ...words('weekdays at 9:75', '0 9 * * *', '@daily', 'five minutes', '1000000w'),
  ...words('500ms after finish', 'every minute between 18:00 and', 'every fooday at 09:00'),
  ...not('jitter', 'invalid_schedule', '', '5', '-1s', '8d', 'soon'),
  ...not('deadline', 'invalid_field', '', '10', 'noon', -1, null),
  ...not('deadline', 'invalid_schedule', '0s', '25:00', '5:30', '05:60', '05:30 pm', ':'),
])

assertRefused('zones: IANA names, to the letter', [
  ...zones('', 'Mars/Phobos', 'europe/athens', 'EEST', '+02:00', 'UTC+2', 'local', 'Europe/'),
  ...zones('../../etc/passwd', 'Europe/Athens\u0007', 'x'.repeat(10_000)),
])

assertRefused('dates and times', [
  ...instants('', 'tomorrow', '2027-01-01', '2027-13-01T00:00:00Z', '2027-02-29T09:00:00Z'),
  ...instants('2027-01-01T24:00:00Z', '2027-01-01T09:60', '2027-01-01T09:00:60Z', '1893456000000'),
  ...instants('2027-01-01T09:00+25:00', '2020-01-01T09:00:00Z', '1969-12-31T23:59:59Z'),
  [
    'a time that clocks jump over, to be skipped',
    putRequest(AT, { at: '2027-03-28T03:30', zone: ATHENS, dst: { gap: 'skip' } }),
    'invalid_schedule',
    'at',
  ],
  ...not('start', 'invalid_schedule', '2027-01-01T00:00', 'now', '2027-02-30T00:00:00Z'),
  ...not('end', 'invalid_schedule', '2027-01-01', '9999999-01-01T00:00:00Z'),
  ...not('end', 'invalid_field', 1_893_456_000_000, null, {}),
])

assertRefused('policies', [
  ...not(
    'overlap',
    'invalid_schedule',
    '',
    'Skip',
    'queue(0)',
    'queue(101)',
    'queue()',
    'queue(-1)',
  ),
  ...not('missed', 'invalid_field', 'never', '', 5, null, []),
  ...(
    [
      [{ policy: 'sometimes' }, 'missed.policy', 'invalid_field'],
      [{ max_age: '1h' }, 'missed.policy', 'missing_field'],
      [{ policy: 'all', max_age: 'old' }, 'missed.max_age', 'invalid_field'],
      [{ policy: 'all', max_count: 0 }, 'missed.max_count', 'invalid_field'],
      [{ policy: 'all', max_count: 1_001 }, 'missed.max_count', 'invalid_field'],
      [{ policy: 'all', evry: '1s' }, 'missed.evry', 'unknown_field'],
      [{ policy: 'latest', max_count: 3 }, 'missed.max_count', 'invalid_schedule'],
      [{ policy: 'latest', every: '3s' }, 'missed.every', 'invalid_schedule'],
      [{ policy: 'skip', max_age: '3s' }, 'missed.max_age', 'invalid_schedule'],
    ] as const
  ).map(([missed, field, code]): Refusal => [
    JSON.stringify(missed),
    putRequest(AT, { every: '5m', missed }),
    code,
    field,
  ]),
  [
    'an unknown gap policy',
    putRequest(AT, { every: '5m', dst: { gap: 'x' } }),
    'invalid_field',
    'dst.gap',
  ],
  ['a word for dst', putRequest(AT, { every: '5m', dst: 'skip' }), 'invalid_field', 'dst'],
  ...everywhere('no expectation', { every: '5m', expect: {} }, 'expect'),
  ...(
    [
      [{ duration: '0s' }, 'expect.duration', 'invalid_schedule'],
      [{ duration: '1x' }, 'expect.duration', 'invalid_schedule'],
      [{ duration: '101x' }, 'expect.duration', 'invalid_schedule'],
      [{ duration: '2 x' }, 'expect.duration', 'invalid_schedule'],
      [{ duration: 2 }, 'expect.duration', 'invalid_field'],
      [{ start: 'soon' }, 'expect.start', 'invalid_field'],
      [{ start: '2x' }, 'expect.start', 'invalid_field'],
      [{ output: 'yes' }, 'expect.output', 'invalid_field'],
      [{ end: '1h' }, 'expect.end', 'unknown_field'],
    ] as const
  ).flatMap(([expect, field, code]): Refusal[] => [
    [JSON.stringify(expect), putRequest(AT, { every: '5m', expect }), code, field],
    [
      `${JSON.stringify(expect)} of a job`,
      putRequest('/v1/jobs/new', { run: 'a', expect }),
      code,
      field,
    ],
  ]),
  [
    'a deadline of a job that no clock shows',
    putRequest('/v1/jobs/new', { run: 'a', deadline: '24:00' }),
    'invalid_schedule',
    'deadline',
  ],
  ...not('priority', 'invalid_field', 11, -11, 0.5, '5'),
  ['1e309 in an input', putRequest(AT, '{"every":"5m","input":[1e309]}'), 'invalid_field', 'input'],
  ...not('input', 'invalid_field', 'x'.repeat(65_536)),
])

assertRefused('lists of schedules, names, pages and pauses', [
  ['a number', putRequest('/v1/jobs/new', { run: 'a', schedule: 5 }), 'invalid_field', 'schedule'],
  [
    'a bare word',
    putRequest('/v1/jobs/new', { run: 'a', schedule: '@daily' }),
    'invalid_field',
    'schedule',
  ],
  [
    'a list in a list',
    putRequest('/v1/jobs/new', { schedule: [[]] }),
    'invalid_field',
    'schedule.0',
  ],
  [
    'the same name twice',
    putRequest('/v1/jobs/new', {
      run: 'a',
      schedule: [
        { every: '5m', name: 'a' },
        { every: '6m', name: 'a' },
      ],
    }),
    'invalid_schedule',
    'schedule.1.name',
  ],
  [
    'a name that another has by its place',
    putRequest('/v1/jobs/new', {
      run: 'a',
      schedule: [{ every: '5m', name: '2' }, { every: '6m' }],
    }),
    'invalid_schedule',
    'schedule.1.name',
  ],
  [
    'no name at all',
    putRequest('/v1/jobs/new', { run: 'a', schedule: { every: '5m', name: 'a/b' } }),
    'invalid_field',
    'schedule.name',
  ],
  [
    '1,001 of them',
    putRequest('/v1/jobs/new', { run: 'a', schedule: times(1_001, () => ({ every: '5m' })) }),
    'invalid_field',
    'schedule',
  ],
  [
    'an empty preview',
    postRequest('/v1/schedules/preview', { count: 5 }),
    'invalid_schedule',
    'cron',
  ],
  [
    'a preview without end',
    postRequest('/v1/schedules/preview', { every: '5m', count: 501 }),
    'invalid_field',
    'count',
  ],
  [
    'a path for a name',
    putRequest('/v1/jobs/known/schedules/a%2fb', {}),
    'invalid_field',
    'schedule',
  ],
])

test('every refusal says in one sentence what would be valid', async (t) => {
  const { call } = await openApi(t)
  for (const [schedule, detail, hint] of [
    [
      { cron: '0 0 30 2 *' },
      'cron: it never fires: no February has a day 30',
      'Write L for the last day of a month.',
    ],
    [
      { cron: '@daily', zone: 'Europe/Athen' },
      'zone: "Europe/Athen" is not the name of a zone',
      'Did you mean Europe/Athens?',
    ],
    [
      { at: '2027-01-01' },
      'at: "2027-01-01" is not a date and time',
      'Write it as 2026-12-01T09:00:00Z or 2026-12-01T09:00:00+02:00.',
    ],
    [{ at: '2020-01-01T00:00:00Z' }, 'at: its last time is in the past', 'Choose a future time.'],
    [{ cron: '0 0 1 1 * 2020' }, 'cron: its last year is over', 'Name a later year, or none.'],
    [{ every: 'yearly in 2020' }, 'every: its last year is over', 'Name a later year, or none.'],
  ] as const) {
    const { body } = await call('POST', '/v1/schedules/preview', { body: schedule })
    assert.deepEqual([body['detail'], body['hint']], [detail, hint])
  }
})
