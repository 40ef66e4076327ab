import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRule } from '../index.ts'

const WRITTEN: readonly [why: string, cron: string, text: string][] = [
  ['five fields', '0 2 * * 1-6', '0 2 * * 1-6'],
  ['six fields have the second first', '*/10 0 2 * * 1-6', '*/10 0 2 * * 1-6'],
  ['blanks and tabs around and between', ' \t0  2\t* * 1-6 ', '0 2 * * 1-6'],
  ['names of months', '0 0 1 JAN,jul *', '0 0 1 1,7 *'],
  ['names of weekdays', '0 0 * * mon-Fri', '0 0 * * 1-5'],
  ['a week that ends on Sunday', '0 0 * * FRI-SUN', '0 0 * * 0,5,6'],
  ['Sunday as 7', '0 0 * * 7', '0 0 * * 0'],
  ['a week from 0 to 7', '0 0 1 * 0-7', '0 0 1 * 0-6'],
  ['a week from 7', '0 0 * * 7-2', '0 0 * * 0-2'],
  ['a week of nothing but Sunday', '0 0 * * 7-7', '0 0 * * 0'],
  ['a week from Sunday to Sunday', '0 0 * * 7-0', '0 0 * * 0'],
  ['Sunday as 7, with a step', '0 0 * * 7/1', '0 0 * * 0'],
  ['Sunday as 7 with a step, beside a day of the month', '0 0 1 * 7/1', '0 0 1 * 0'],
  ['Sunday as 7 with a step, in a list', '0 3 * * 1,7/1', '0 3 * * 0,1'],
  ['a week that ends on 7, with a step', '0 0 * * 1-7/2', '0 0 * * 0,1,3,5'],
  ['leading zeros', '05 09 01 02 *', '5 9 1 2 *'],
  ['a list out of order, with a repetition', '30,0,30 * * * *', '0,30 * * * *'],
  ['neighbours', '1,2,3,7 * * * *', '1-3,7 * * * *'],
  ['an even list', '5,20,35,50 * * * *', '5-50/15 * * * *'],
  ['a value with a step goes on to the end', '5/15 * * * *', '5-50/15 * * * *'],
  ['a range with a step', '10-40/10 * * * *', '10-40/10 * * * *'],
  ['a star that does nothing more than another', '*/2,*/4 */3 * * *', '*/2 */3 * * *'],
  ['a step of one', '*/1 */1 * * *', '* * * * *'],
  ['all hours by name are not a star: they mean clocks', '0 0-23 * * *', '0 0-23 * * *'],
  ['stars beside other hours are only values', '0 */6,1 * * *', '0 0,1,6,12,18 * * *'],
  ['days that were left open stay open', '0 0 */2,4 * 1', '0 0 */2,4 * 1'],
  ['a question mark', '0 0 ? * 1', '0 0 * * 1'],
  ['the last day', '0 0 L * *', '0 0 L * *'],
  ['days before the last', '0 0 L-3 * *', '0 0 L-3 * *'],
  ['the last working day', '0 0 WL * *', '0 0 LW * *'],
  ['the nearest working day', '0 0 15W,1 * *', '0 0 1,15W * *'],
  ['the last Friday, in three ways', '0 0 * * FRIL,5L,fri#l', '0 0 * * 5L'],
  ['the second Tuesday', '0 0 * * TUE#2', '0 0 * * 2#2'],
  ['the first Monday to Friday', '0 0 * * MON-FRI#1', '0 0 * * 1#1,2#1,3#1,4#1,5#1'],
  ['a day said twice by a range', '0 0 * * MON#1,SUN-MON#1', '0 0 * * 0#1,1#1'],
  ['a range of last days that ends on Sunday', '0 0 * * SAT-SUN#L', '0 0 * * 0L,6L'],
  ['full names of weekdays', '0 0 * * monday-Friday', '0 0 * * 1-5'],
  ['full names of months', '0 0 1 January,SEPTEMBER *', '0 0 1 1,9 *'],
  ['the last Friday by its full name', '0 0 * * FRIDAYL', '0 0 * * 5L'],
  ['a hashed minute', 'H * * * *', 'H * * * *'],
  ['a hashed range with a step', 'H(0-29)/10 H * * *', 'H(0-29)/10 H * * *'],
  ['yearly', '@yearly', '0 0 1 1 *'],
  ['annually', '@annually', '0 0 1 1 *'],
  ['monthly', '@monthly', '0 0 1 * *'],
  ['weekly', '@weekly', '0 0 * * 0'],
  ['daily, in capitals', '@DAILY', '0 0 * * *'],
  ['midnight', '@midnight', '0 0 * * *'],
  ['hourly', '@hourly', '0 * * * *'],
  ['a fixed rate', '@every 90s', '@every 1m30s'],
]
for (const [why, cron, text] of WRITTEN) {
  test(`cron: ${why}`, () => {
    const reading = readRule({ cron })
    assert.ok(reading.ok, JSON.stringify(reading))
    assert.equal(reading.rule.text, text)
    const again = readRule({ cron: text })
    assert.ok(again.ok && again.rule.text === text, 'what is written reads the same')
  })
}

const REFUSED: readonly [cron: string, message: RegExp, hint?: RegExp][] = [
  ['', /empty/, /0 2 \* \* 1-5/],
  ['   ', /empty/],
  ['* * * *', /4 fields, not 5 or 6/, /minute, hour/],
  ['0 0 0 * * * 2026', /7 fields/],
  ['60 * * * *', /minute: "60" is not in 0-59/, /Write 0\./],
  ['* 24 * * *', /hour: "24" is not in 0-23/, /Write 0\./],
  ['* * 0 * *', /day of month: "0" is not in 1-31/, /Write 1\./],
  ['* * 32 * *', /day of month: "32"/, /Write 31\./],
  ['* * * 13 *', /month: "13" is not in 1-12/],
  ['* * * 0 *', /month: "0"/],
  ['* * * * 8', /day of week: "8" is not in 0-7/],
  ['61 * * * * *', /second: "61"/],
  ['-5 * * * *', /minute: "-5" is not understood/],
  ['1.5 * * * *', /minute: "1.5" is not understood/],
  ['1e1 * * * *', /minute: "1E1" is not understood/],
  ['99999999999999999999 * * * *', /minute: "9{20}" is not in/],
  ['*/0 * * * *', /minute: a step of 0/, /least step is 1/],
  ['*/60 * * * *', /a step of 60 leaves nothing of 0-59 but 0/, /Write 0/],
  ['* */24 * * *', /a step of 24 leaves/],
  ['0 0 * * 7/2', /day of week: a step of 2 leaves nothing of 7-7 but 7/, /Write 7/],
  ['5-1 * * * *', /"5-1" runs backwards/, /5-59,0-1/],
  ['* * * * FRI-MON', /"FRI-MON" runs backwards/, /5-6,0-1/],
  ['1,,2 * * * *', /minute: "" is not understood/, /comma/],
  [', * * * *', /minute: ""/],
  ['*/ * * * *', /minute: "\*\/" is not/],
  ['**/2 * * * *', /is not understood/],
  ['1-2-3 * * * *', /is not understood/],
  ['? * * * *', /minute: "\?"/, /question mark is for days/],
  ['L * * * *', /minute: "L"/],
  ['* * * * MOM', /"MOM"/, /Did you mean MON\?/],
  ['* * * * MONDY', /"MONDY"/, /Did you mean MON\?/],
  ['* * * * FRI-MON#1', /"FRI-MON#1" runs backwards/],
  ['* * * * MON-FRI#6', /no month has "MON-FRI#6"/],
  ['* * * * MON-L', /is not understood/],
  ['* * * JANU *', /"JANU"/, /Did you mean JAN\?/],
  ['* * * * L', /the last of what/, /5L/],
  ['* * * * 5#6', /no month has "5#6"/, /5#5/],
  ['* * * * 5#0', /no month has "5#0"/],
  ['* * L-31 * *', /no month has "L-31"/],
  ['* * 32W * *', /"32" is not in 1-31/],
  ['* * 1-5W * *', /is not understood/],
  ['H(30-10) * * * *', /runs backwards/, /H\(10-30\)/],
  ['H(0-99) * * * *', /"99" is not in/],
  ['H/0 * * * *', /a step of 0/],
  ['@reboot', /names no time/],
  ['@dayly', /not known/, /@daily/],
  ['@every', /not known/],
  ['@every 5', /not a duration/],
  ['@every 10ms', /less than a second/],
  ['0 0 30 2 *', /never fires/],
  ['0 0 31 4,6,9,11 *', /never fires/],
  ['0 0 31 2 */2', /never fires/],
  ['0 0 31W 2 *', /never fires/],
  ['0 0 L-30 2 *', /never fires/],
  ['٣ * * * *', /U\+0663/],
  ['５ * * * *', /U\+FF15/],
  ['0 0 * * *\n', /U\+000A/],
  ['0 0 * * *\0', /U\+0000/],
  ['0\u00a00 * * *', /U\+00A0/],
  ['0 0 * * 💥', /U\+1F4A5/],
  ['every 5 minutes', /in words/, /`every`/],
  [`${'1,'.repeat(5_000)}1 * * * *`, /10009 characters/],
]
for (const [cron, message, hint] of REFUSED) {
  test(`cron: ${JSON.stringify(cron.slice(0, 40))} is refused`, () => {
    const reading = readRule({ cron })
    assert.ok(!reading.ok, 'it was taken')
    assert.equal(reading.problem.field, 'cron')
    assert.match(reading.problem.message, message)
    if (hint) assert.match(reading.problem.hint ?? '', hint)
    assert.ok(reading.problem.message.length < 200, 'the message echoes all it was sent')
  })
}
