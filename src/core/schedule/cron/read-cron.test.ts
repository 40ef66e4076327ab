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
  ['Sunday as 7 with a step, and a day of the month', '0 0 1 * 7/1', '0 0 1 * 0'],
  ['Sunday as 7 with a step, in a list', '0 3 * * 1,7/1', '0 3 * * 0,1'],
  ['a week that ends on 7, with a step', '0 0 * * 1-7/2', '0 0 * * 0,1,3,5'],
  ['leading zeros', '05 09 01 02 *', '5 9 1 2 *'],
  ['a list out of order, with a repetition', '30,0,30 * * * *', '0,30 * * * *'],
  ['neighbours', '1,2,3,7 * * * *', '1-3,7 * * * *'],
  ['an even list', '5,20,35,50 * * * *', '5-50/15 * * * *'],
  ['a value with a step continues to the end', '5/15 * * * *', '5-50/15 * * * *'],
  ['a range with a step', '10-40/10 * * * *', '10-40/10 * * * *'],
  ['a star that does nothing more than another', '*/2,*/4 */3 * * *', '*/2 */3 * * *'],
  ['a step of one', '*/1 */1 * * *', '* * * * *'],
  ['all hours by name are not a star: they mean clocks', '0 0-23 * * *', '0 0-23 * * *'],
  ['a star in a list with other hours is only its values', '0 */6,1 * * *', '0 0,1,6,12,18 * * *'],
  ['days that were left open stay open', '0 0 */2,4 * 1', '0 0 */2,4 * 1'],
  ['a question mark', '0 0 ? * 1', '0 0 * * 1'],
  ['the last day', '0 0 L * *', '0 0 L * *'],
  ['days before the last', '0 0 L-3 * *', '0 0 L-3 * *'],
  ['the last working day', '0 0 WL * *', '0 0 LW * *'],
  ['the nearest working day', '0 0 15W,1 * *', '0 0 1,15W * *'],
  ['the last Friday, in three ways', '0 0 * * FRIL,5L,fri#l', '0 0 * * 5L'],
  ['the second Tuesday', '0 0 * * TUE#2', '0 0 * * 2#2'],
  ['the first Monday to Friday', '0 0 * * MON-FRI#1', '0 0 * * 1#1,2#1,3#1,4#1,5#1'],
  ['a day given twice by a range', '0 0 * * MON#1,SUN-MON#1', '0 0 * * 0#1,1#1'],
  ['a range of last days that ends on Sunday', '0 0 * * SAT-SUN#L', '0 0 * * 0L,6L'],
  ['a range of last days in one word', '0 0 * * FRI-SUNL', '0 0 * * 0L,5L,6L'],
  ['the working day nearest to three days before the last', '0 0 L-3W * *', '0 0 L-3W * *'],
  ['no days before the last', '0 0 L-0W,l-0 * *', '0 0 L,LW * *'],
  ['a year', '0 9 * * 1 2027', '0 9 * * 1 2027'],
  ['seconds and a year', '0 0 9 * * 1 2027', '0 0 9 * * 1 2027'],
  ['years in a list', '0 9 * * * 2030,2027-2029', '0 9 * * * 2027-2030'],
  ['every other year', '0 0 9 * * * */2', '0 0 9 * * * 1970-2098/2'],
  ['years from one on', '0 9 1 1 * 2095/2', '0 9 1 1 * 2095-2099/2'],
  ['every year', '0 0 9 * * 1 *', '0 0 9 * * 1'],
  ['a leap day in years that have one', '0 0 29 2 * 2027-2029', '0 0 29 2 * 2027-2029'],
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
  [
    '* * * *',
    /4 fields, and five or six are needed: the day of week is missing/,
    /^Write \* \* \* \* \* for minute, hour/,
  ],
  ['0 9 1 *', /4 fields, .*: the day of week is missing/, /^Write 0 9 1 \* \* for/],
  ['0 9 * MON', /4 fields, .*: the month is missing/, /^Write 0 9 \* \* MON for/],
  ['9 * JAN MON', /4 fields, .*: the day of month is missing/, /^Write 9 \* \* JAN MON for/],
  ['30 31 * MON', /4 fields, .*: the hour is missing/],
  ['0 99 1 *', /4 fields, .*: the day of week is missing/],
  [
    '0 9',
    /2 fields, .*: the day of month, month and day of week are missing/,
    /^Write 0 9 \* \* \* /,
  ],
  ['*', /1 field, .*: the hour, day of month, month and day of week are missing/],
  ['0 0 9 * * 1 2027 0', /8 fields, and at most seven are allowed/, /second, minute, .* and year/],
  ['0 0 9 * * 1 27', /year: "27" is not in 1970-2099/, /Write 1970/],
  ['0 9 * * * 2100', /year: "2100" is not in 1970-2099/, /Write 2099/],
  ['0 0 9 * * 1 H', /year: "H" is not understood/],
  ['0 0 9 * * 1 L', /year: "L" is not understood/],
  ['0 9 * * * 2030-2027', /year: "2030-2027" runs backwards/],
  ['0 0 29 2 * 2026,2027', /never fires: no February of 2026,2027 has a day 29/],
  ['0 0 31 2 * 2028', /never fires/],
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
  ['*/0 * * * *', /minute: a step of 0/, /smallest step is 1/],
  ['*/60 * * * *', /a step of 60 leaves nothing of 0-59 but 0/, /Write 0/],
  ['* */24 * * *', /a step of 24 leaves/],
  ['0 0 * * 7/2', /day of week: a step of 2 leaves nothing of 7-7 but 7/, /Write 7/],
  ['5-1 * * * *', /"5-1" runs backwards/, /Write 5-59,0-1\./],
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
  ['* * * * L5', /"L5" is not understood/, /Write 5L for the last one/],
  ['0 9 25-L * *', /"25-L" is not understood/, /Write 25-31: days/],
  ['0 9 1-L/8 * *', /"1-L\/8" is not understood/, /Write 1-31\/8:/],
  ['0 9 * * SAT-TUE', /runs backwards/, /^Write 6,0-2\.$/],
  ['* * L-31W * *', /no month has "L-31W"/],
  ['0 0 L-30W 2 *', /never fires/],
  ['* * * JANU *', /"JANU"/, /Did you mean JAN\?/],
  ['* * * * L', /L needs a weekday/, /5L/],
  ['* * * * 5#6', /no month has "5#6"/, /5#5/],
  ['* * * * 5#0', /no month has "5#0"/],
  ['* * L-31 * *', /no month has "L-31"/],
  ['* * 32W * *', /"32" is not in 1-31/],
  ['* * 1-5W * *', /is not understood/],
  ['H(30-10) * * * *', /runs backwards/, /H\(10-30\)/],
  ['H(0-99) * * * *', /"99" is not in/],
  ['H/0 * * * *', /a step of 0/],
  ['@reboot', /@reboot is not supported/],
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
  test(`rejects cron: ${JSON.stringify(cron.slice(0, 40))}`, () => {
    const reading = readRule({ cron })
    assert.ok(!reading.ok, 'it was taken')
    assert.equal(reading.problem.field, 'cron')
    assert.match(reading.problem.message, message)
    if (hint) assert.match(reading.problem.hint ?? '', hint)
    assert.ok(reading.problem.message.length < 200, 'the message echoes all it was sent')
  })
}

/** The meaning of a weekday range with 7, found by counting. */
function weekdaysOf(from: number, to: number, step: number): number[] {
  const days: number[] = []
  for (let day = from; day <= to; day += step) days.push(day % 7)
  return [...new Set(days)].toSorted((a, b) => a - b)
}

test('Sunday is 0 and 7 in every accepted range and step, and the normalised text means the same', () => {
  const steps = [1, 2, 3, 4, 5, 6, 7]
  let taken = 0
  for (let from = 0; from <= 7; from++) {
    for (let to = 0; to <= 7; to++) {
      for (const step of steps) {
        const first = from === 7 && to < 7 ? 0 : from
        const last = to === 0 && first > 0 ? 7 : to
        for (const item of [`${from}-${to}/${step}`, ...(step === 1 ? [`${from}-${to}`] : [])]) {
          taken += expectWeekdays(item, weekdaysOf(first, last, step))
        }
      }
    }
    for (const step of steps) {
      taken += expectWeekdays(`${from}/${step}`, weekdaysOf(from, from === 7 ? 7 : 6, step))
    }
  }
  assert.ok(taken > 100, `${taken} were taken`)
})

function expectWeekdays(item: string, weekdays: readonly number[]): number {
  const reading = readRule({ cron: `0 0 * * ${item}` })
  if (!reading.ok) return 0
  const sunday = Date.UTC(2026, 10, 15)
  const found = new Set<number>()
  const { rule } = reading
  for (let at = rule.next(sunday - 1)!; at < sunday + 7 * 86_400_000; at = rule.next(at)!) {
    found.add(new Date(at).getUTCDay())
  }
  assert.deepEqual(
    [...found].toSorted((a, b) => a - b),
    weekdays,
    item,
  )
  for (const cron of [`0 0 * * ${item}`, `0 0 1 * ${item}`, `0 0 * * 3,${item}`]) {
    const first = readRule({ cron })
    const again = first.ok && readRule({ cron: first.rule.text })
    assert.ok(first.ok && again && again.ok, cron)
    assert.equal(again.rule.text, first.rule.text)
    for (let at = sunday, count = 0; count < 20; count++) {
      const next: number = first.rule.next(at)!
      assert.equal(again.rule.next(at), next, cron)
      at = next
    }
  }
  return 1
}
