import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planOf } from './calendar/calendar-rule.ts'
import { readCron } from './cron/read-cron.ts'
import { readRule } from './index.ts'
import { Refusal } from './refusal.ts'
import { GAPS, REPEATS } from './zones/next-fire.ts'
import { MAX_STEPS, nextOnCalendar } from './zones/next-on-calendar.ts'
import { zoneNamed } from './zones/zone-names.ts'

/** Expressions that made schedulers loop, crash or fire at the wrong time, and ones made to. */
const HOSTILE: readonly string[] = [
  // Days that come seldom or never.
  ...['0 0 29 2 *', '0 0 30 2 *', '0 0 31 2 *', '* * 31 2 *', '0 0 31 4,6,9,11 *', '0 0 29 2 */6'],
  ...[
    '0 0 * 2 5#5',
    '59 59 23 29 2 *',
    '0 0 31W 2 *',
    '0 0 29W 2 *',
    '0 0 L-30 2 *',
    '0 0 L-28 2 *',
  ],
  ...['0 0 1W 1 7#5', '0 0 LW 2 */6', '0 0 13 10 5', '0 0 */31 2 1', '0 0 31 */2 1-5'],
  // Times that clocks leave out or bring twice, and only those.
  ...[
    '30 2 * 3 0#2',
    '0 2 8-14 3 *',
    '30 2 * 3 0L',
    '15 2 * 10 0#1',
    '30 0 * 9 0#1',
    '30 1 * 11 0#1',
  ],
  ...[
    '0 0 30 12 *',
    '* 2 * 3 0#2',
    '59 59 2 * 3 0#2',
    '*/7 2 * 3 0#2',
    '0 24 * * *',
    '45 1 * 4 0#1',
  ],
  // Numbers and signs.
  ...[
    '60 * * * *',
    '*/0 * * * *',
    '*/61 * * * *',
    '-1 * * * *',
    '+1 * * * *',
    '5-1 * * * *',
    '0x10 * * * *',
  ],
  ...[
    '1e3 * * * *',
    '1.5 * * * *',
    '00000000005 * * * *',
    `${'9'.repeat(400)} * * * *`,
    '*/99999999999 * * * *',
  ],
  ...[
    '0/0 * * * *',
    '5/60 * * * *',
    '0-59/60 * * * *',
    '∞ * * * *',
    'NaN * * * *',
    '--5 * * * *',
    '5- * * * *',
  ],
  // Characters.
  ...[
    '٣ * * * *',
    '５ * * * *',
    '² * * * *',
    '0 0 * * *\0',
    '0 0 * * *\r\n',
    '\u202e0 0 * * *',
    '\ufeff0 0 * * *',
  ],
  ...[
    '0\u200b0 * * *',
    '0 0 * * 💥',
    '\ud800 * * * *',
    '0\u00a00\u00a0*\u00a0*\u00a0*',
    '\u001b[31m* * * * *',
  ],
  // Words.
  ...[
    '',
    ' ',
    '*',
    '* * * *',
    '* * * * * * *',
    '@',
    '@reboot',
    '@every',
    '@every -5m',
    '@every 1e9h',
    '@DAILY x',
  ],
  ...[
    '__proto__ * * * *',
    'constructor * * * *',
    '* * * toString *',
    '* * * * hasOwnProperty',
    '@constructor',
  ],
  ...[
    '* * * JAN-DEC MON-SUN',
    '* * * DEC-JAN *',
    '* * * * SUN-MON',
    '* * ? * ?',
    'H(59-0) * * * *',
    'H() * * * *',
  ],
  ...[
    'L W # ? H',
    '* * L-0 * *',
    '* * W * *',
    '* * 0W * *',
    '* * * * #1',
    '* * * * 1#',
    '* * * * 7#5,7L,0L',
  ],
  // Length.
  `${'0,'.repeat(450)}0 * * * *`,
  `${'*/2,'.repeat(240)}* * * * *`,
  `${'0,'.repeat(5_000)}0 * * * *`,
  `${' '.repeat(10_000)}* * * * *`,
  '* '.repeat(5_000),
  `${'('.repeat(990)} * * * *`,
  `${'1-'.repeat(400)}5 * * * *`,
  'a'.repeat(10_240),
]
const ZONES = [
  ...['UTC', 'America/New_York', 'America/Santiago', 'Australia/Lord_Howe', 'Africa/Casablanca'],
  ...['Pacific/Apia', 'Europe/Dublin', 'Antarctica/Troll', 'Africa/Monrovia', 'Asia/Gaza'],
]
const MOMENTS = [
  '1970-01-01',
  '1999-12-31',
  '2011-12-29',
  '2026-03-07',
  '2087-06-01',
  '9999-12-30',
].map((day) => Date.parse(`${day}T00:00:00Z`))

test('every hostile expression is read or refused, and never anything else', () => {
  for (const cron of HOSTILE) {
    const reading = readRule({ cron })
    if (reading.ok) continue
    const { field, message, hint = '' } = reading.problem
    assert.equal(field, 'cron')
    assert.ok(message.length < 200 && hint.length < 200, message)
    assert.doesNotMatch(message + hint, /[\p{C}]/u, 'nothing that moves a cursor')
  }
})

test(`every hostile expression is answered within ${MAX_STEPS} steps in any zone`, () => {
  let most = 0
  for (const cron of HOSTILE) {
    const plan = planFor(cron)
    if (!plan) continue
    for (const name of ZONES) {
      for (const gap of GAPS) {
        for (const repeat of REPEATS) {
          for (const after of MOMENTS) {
            const patience = { steps: MAX_STEPS }
            const next = nextOnCalendar(plan, zoneNamed(name), { gap, repeat }, after, patience)
            assert.ok(patience.steps > 0, `${cron} in ${name} was given up, not answered`)
            assert.ok(next === null || next > after)
            most = Math.max(most, MAX_STEPS - patience.steps)
          }
        }
      }
    }
  }
  assert.ok(most > 600, `the worst took ${most} steps: these were not hostile`)
})

test('patience ends a search that would not end by itself', () => {
  const patience = { steps: 10 }
  const plan = planFor('0 0 * 2 5#5')!
  assert.equal(
    nextOnCalendar(plan, zoneNamed('UTC'), { gap: 'skip', repeat: 'first' }, 0, patience),
    null,
  )
  assert.ok(patience.steps <= 0 && patience.steps > -5)
})

function planFor(cron: string) {
  try {
    return planOf(readCron(cron, 'seed'))
  } catch (error) {
    assert.ok(error instanceof Refusal, `${cron}: ${String(error)}`)
    return undefined
  }
}
