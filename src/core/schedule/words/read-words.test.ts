import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRule } from '../index.ts'

/** The text, its normalised description, and the equivalent cron expression if there is one. */
const READ: readonly [words: string, said: string, cron?: string][] = [
  ['5m', '5m', '@every 5m'],
  ['every 5m', '5m', '@every 5m'],
  ['1h30m', '1h30m', '@every 90m'],
  ['every minute', 'every minute', '* * * * *'],
  ['5 minutes', 'every 5 minutes', '*/5 * * * *'],
  ['Every 15 Minutes', 'every 15 minutes', '*/15 * * * *'],
  ['every 7 minutes', '7m', '@every 7m'],
  ['every 90 minutes', '1h30m', '@every 90m'],
  ['every second', 'every second', '* * * * * *'],
  ['every 10 seconds', 'every 10 seconds', '*/10 * * * * *'],
  ['every hour', 'every hour', '0 * * * *'],
  ['hourly', 'every hour', '@hourly'],
  ['every hour at minute 5', 'every hour at minute 5', '5 * * * *'],
  ['every 2 hours', 'every 2 hours', '0 */2 * * *'],
  ['every 2 hours at minutes 5, 35', 'every 2 hours at minutes 5 and 35', '5,35 */2 * * *'],
  ['every 24 hours', '1d', '@every 24h'],
  ['daily', 'every day at 00:00', '@daily'],
  ['every day', 'every day at 00:00', '@daily'],
  ['at 09:00', 'every day at 09:00', '0 9 * * *'],
  ['daily at 9am', 'every day at 09:00', '0 9 * * *'],
  ['every day at 12am and 12pm', 'every day at 00:00 and 12:00', '0 0,12 * * *'],
  ['every day at noon and midnight', 'every day at 00:00 and 12:00', '0 0,12 * * *'],
  ['every day at 9:05:30', 'every day at 09:05:30', '30 5 9 * * *'],
  ['weekdays at 09:05', 'weekdays at 09:05', '5 9 * * 1-5'],
  ['at 09:05 on weekdays', 'weekdays at 09:05', '5 9 * * 1-5'],
  ['every weekday at 9:05', 'weekdays at 09:05', '5 9 * * 1-5'],
  ['mon-fri at 9:05am', 'weekdays at 09:05', '5 9 * * 1-5'],
  ['weekends at 10:00', 'weekends at 10:00', '0 10 * * 0,6'],
  ['sunday at 04:00', 'Sundays at 04:00', '0 4 * * 0'],
  ['every monday and thursday at 10:00', 'Mondays and Thursdays at 10:00', '0 10 * * 1,4'],
  ['mon, wed, fri at 5:30 pm', 'Mondays, Wednesdays and Fridays at 17:30', '30 17 * * 1,3,5'],
  ['monday to saturday at 02:00', 'Monday to Saturday at 02:00', '0 2 * * 1-6'],
  ['friday to sunday at 02:00', 'Friday to Sunday at 02:00', '0 2 * * 5-7'],
  ['weekly', 'Sundays at 00:00', '@weekly'],
  ['weekly on monday at 09:00', 'Mondays at 09:00', '0 9 * * 1'],
  ['monthly', 'the 1st of the month at 00:00', '@monthly'],
  ['yearly', 'the 1st of January at 00:00', '@yearly'],
  ['yearly in 2027', 'the 1st of January at 00:00 in 2027', '0 0 1 1 * 2027'],
  [
    'weekdays at 09:05 in 2027, 2029',
    'weekdays at 09:05 in 2027 and 2029',
    '5 9 * * 1-5 2027,2029',
  ],
  ['5 minutes in 2026 to 2030', 'every 5 minutes in 2026 to 2030', '*/5 * * * * 2026-2030'],
  [
    'every day in march at 09:00 in 2026 and 2028 to 2030 and 2040',
    'every day in March at 09:00 in 2026, 2028 to 2030 and 2040',
    '0 9 * 3 * 2026,2028-2030,2040',
  ],
  [
    'at noon in 2026, 2028, 2030, 2032, 2034, 2036, 2038 and 2040',
    'every day at 12:00 in 2026, 2028, 2030, 2032, 2034, 2036, 2038 and 2040',
    '0 12 * * * 2026-2040/2',
  ],
  [
    'every quarter at 06:00',
    'the 1st of January, April, July and October at 06:00',
    '0 6 1 1,4,7,10 *',
  ],
  ['first of the month at 06:00', 'the 1st of the month at 06:00', '0 6 1 * *'],
  [
    'on the 1st and 15th of the month at 06:00',
    'the 1st and 15th of the month at 06:00',
    '0 6 1,15 * *',
  ],
  ['last day of the month at 23:59', 'the last day of the month at 23:59', '59 23 L * *'],
  [
    '3 days before the last day of the month at 09:00',
    '3 days before the last day of the month at 09:00',
    '0 9 L-3 * *',
  ],
  ['first weekday of the month at 08:00', 'the first weekday of the month at 08:00', '0 8 1W * *'],
  ['last weekday of the month at 08:00', 'the last weekday of the month at 08:00', '0 8 LW * *'],
  [
    'the weekday nearest to the 15th of the month at 09:00',
    'the weekday nearest the 15th of the month at 09:00',
    '0 9 15W * *',
  ],
  ['last friday of the month at 17:00', 'the last Friday of the month at 17:00', '0 17 * * 5L'],
  [
    'every second tuesday of the month at 10:00',
    'the second Tuesday of the month at 10:00',
    '0 10 * * 2#2',
  ],
  [
    'the first monday and last friday of march at 09:00',
    'the first Monday and the last Friday of March at 09:00',
    '0 9 * 3 1#1,5L',
  ],
  ['the 1st of january and july at 00:00', 'the 1st of January and July at 00:00', '0 0 1 1,7 *'],
  ['weekdays in march to may at 09:00', 'weekdays in March to May at 09:00', '0 9 * 3-5 1-5'],
  [
    'the 13th of the month or fridays at 09:00',
    'the 13th of the month or Fridays at 09:00',
    '0 9 13 * 5',
  ],
  ['every minute on weekdays', 'every minute on weekdays', '* * * * 1-5'],
  ['every 15 minutes in june', 'every 15 minutes in June', '*/15 * * 6 *'],
  [
    'every 15 minutes between 08:00 and 17:45',
    'every 15 minutes between 08:00 and 17:45',
    '*/15 8-17 * * *',
  ],
  ['every 15 minutes between 08:00 and 18:00', 'every 15 minutes between 08:00 and 18:00'],
  [
    'every 15 minutes from 8am to 6pm on weekdays',
    'every 15 minutes between 08:00 and 18:00 on weekdays',
  ],
  ['every hour between 08:00 and 18:00', 'every hour between 08:00 and 18:00', '0 8-18 * * *'],
  ['every 90 minutes between 08:00 and 18:00', 'every 90 minutes between 08:00 and 17:00'],
  ['5m after finish', '5m after finish'],
]
const FROM = Date.parse('2026-01-15T10:20:30Z')

for (const [words, said, cron] of READ) {
  test(`words: ${words}`, () => {
    const reading = readRule({ every: words })
    assert.ok(reading.ok, JSON.stringify(reading))
    const { rule } = reading
    assert.equal(rule.text, said)
    const again = readRule({ every: said })
    assert.ok(again.ok && again.rule.text === said, 'what is said is read the same')
    if (cron !== undefined) assert.deepEqual(fires({ every: words }), fires({ cron }))
    assert.deepEqual(fires({ every: said }), fires({ every: words }))
  })
}

function fires(source: { every: string } | { cron: string }): string[] {
  const reading = readRule({ ...source, zone: 'America/New_York' })
  assert.ok(reading.ok, JSON.stringify(reading))
  const found: number[] = []
  for (let at: number | null = FROM; at !== null && found.length < 100;) {
    at = reading.rule.next(at)
    if (at !== null) found.push(at)
  }
  return found.map((ms) => new Date(ms).toISOString())
}

test('a window begins and ends with a fire', () => {
  const day = fires({ every: 'every 15 minutes between 08:00 and 18:00' }).filter((at) =>
    at.startsWith('2026-01-16'),
  )
  assert.deepEqual(
    [day[0], day.at(-1), day.length],
    ['2026-01-16T13:00:00.000Z', '2026-01-16T23:00:00.000Z', 41],
  )
})

const REFUSED: readonly [words: string, message: RegExp, hint?: RegExp][] = [
  ['', /empty/, /weekdays at/],
  ['every', /ends too early/],
  ['every 5', /ends too early/],
  ['weekdays', /at what time/, /weekdays at 09:00/],
  ['weekdays at', /not a time of the day/],
  ['weekdays at 9', /"9" is not a time/, /09:00/],
  ['weekdays at 25:00', /"25:00" is not a time/],
  ['weekdays at 9:60', /not a time/],
  ['weekdays at 13pm', /not a time/],
  ['weekdays at 0am', /not a time/],
  ['evry day at 09:00', /"evry"/, /every/],
  ['mondey at 09:00', /"mondey"/, /monday/],
  ['every 5 minuts', /"minuts"/, /minute/],
  ['tomorrow at 09:00', /"tomorrow"/],
  ['every 0 minutes', /is not possible/],
  ['every 2 days at 09:00', /2 days have no fixed starting point/, /2d/],
  ['every 3 months', /3 months have no fixed starting point/],
  ['every 7 minutes on weekdays', /do not divide 60/, /divisor/],
  ['every 5 minutes and every 2 hours', /two intervals/],
  ['every 5 minutes at 09:00', /an interval and times of day/],
  ['every 5 minutes at minute 3', /only hours have minutes/],
  ['every hour at minute 60', /not a minute/],
  ['weekdays between 08:00 and 18:00', /not how often/],
  ['every 15 minutes between 22:00 and 06:00', /ends before it begins/, /midnight/],
  ['every 5 seconds between 08:00 and 09:00', /minutes and hours/],
  ['the 32nd of the month at 09:00', /no month has 32 days/],
  ['the 30th of february at 09:00', /no February has a day 30/],
  ['the 6th friday of the month at 09:00', /comes 6 times/],
  ['the 1st at 09:00', /of which month/],
  ['the second weekday of the month at 09:00', /first and the last weekday/],
  ['december to january at 09:00', /not understood/],
  ['every day in december to january at 09:00', /run backwards/],
  ['every day in smarch at 09:00', /"smarch"/, /march/],
  ['weekdays at 09:00 in 2030 to 2027', /years run backwards/],
  ['weekdays at 09:00 in 1900', /not a year from 1970 to 2099/],
  ['the 29th of february at 09:00 in 2027', /no February of 2027 has a day 29/],
  ['0 9 * * *', /written as cron/, /`cron`/],
  ['@daily', /written as cron/],
  ['90', /not a duration/],
  ['5 m', /not understood/],
  ['-5m', /not understood/],
  ['500ms', /less than a second/],
  ['5m after lunch', /not understood/],
  ['36601d', /longer than/],
  ['weekdays at ٠٩:٠٥', /U\+0660/],
  ['weekdays\nat 09:05', /U\+000A/],
  ['__proto__ at 09:00', /not understood/],
  ['every constructor at 09:00', /not understood/],
  [`${'monday and '.repeat(1_000)}friday at 09:00`, /characters/],
  [`at ${'09:00, '.repeat(25)}10:00`, /26 times/],
]
for (const [words, message, hint] of REFUSED) {
  test(`rejects words: ${JSON.stringify(words.slice(0, 50))}`, () => {
    const reading = readRule({ every: words })
    assert.ok(!reading.ok, reading.ok ? reading.rule.text : '')
    assert.equal(reading.problem.field, 'every')
    assert.match(reading.problem.message, message)
    if (hint) assert.match(reading.problem.hint ?? '', hint)
    assert.ok(reading.problem.message.length < 200, 'the message echoes all it was sent')
  })
}

const DESCRIBED: readonly [cron: string, said: string][] = [
  ['0 2 * * 1-6', 'Monday to Saturday at 02:00'],
  ['*/7 * * * *', 'at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of every hour'],
  ['0 0 */15 * 1', 'the 1st, 16th and 31st of the month if they are Mondays at 00:00'],
  ['* 9 * * *', 'every minute between 09:00 and 09:59'],
  ['0 0 1 * 0-6', 'every day at 00:00'],
  ['0 0 L,15 * *', 'the 15th and the last day of the month at 00:00'],
  ['0 12 * 1-3 1#1,5', 'Fridays and the first Monday of the month in January to March at 12:00'],
  [
    '1,7,9,22 3,5,8,9,10,11,15 * * *',
    'at minutes 1, 7, 9 and 22 of hours 3, 5, 8, 9, 10, 11 and 15',
  ],
  ['5,15 1,2 * * * *', 'at seconds 5 and 15 of minutes 1 and 2 of every hour'],
  ['*/7 9 * * * *', 'at seconds 0, 7, 14, 21, 28, 35, 42, 49 and 56 of minute 9 of every hour'],
  ['@every 1h', 'every 1h'],
]
for (const [cron, said] of DESCRIBED) {
  test(`describes ${cron} as: ${said}`, () => {
    const reading = readRule({ cron })
    assert.ok(reading.ok)
    assert.equal(reading.rule.describe(), said)
  })
}

test('describes an instant', () => {
  const reading = readRule({ at: '2026-05-01T12:00:00+02:00' })
  assert.ok(reading.ok)
  assert.equal(reading.rule.describe(), 'once, at 2026-05-01T10:00:00Z')
})
