import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PunctualError } from '../../core/errors.ts'
import { readRule } from '../../core/schedule/index.ts'
import { readCompatRecurrence, type JobTiming, writeCompatRecurrence } from './recurrence.ts'

const NOW = Date.UTC(2026, 5, 15, 12, 30)
const at = (iso: string) => Date.parse(iso)

function read(text: string, firstAt?: number): JobTiming {
  return readCompatRecurrence(text, 'schedule', { zone: 'UTC', now: NOW, firstAt })
}

/** The first times at which it runs by itself. */
function times({ rule, once }: JobTiming, count: number): string[] {
  const found = once ? [once.at ?? NOW] : []
  const reading = rule && readRule(rule)
  for (let after = NOW; reading?.ok && found.length < count;) {
    const next = reading.rule.next(after)
    if (next === null) break
    found.push(next)
    after = next
  }
  return found.map((ms) => new Date(ms).toISOString().replace(':00.000Z', 'Z'))
}

const TABLE: [text: string, first: string | undefined, times: string[]][] = [
  ['0 2 * * *', undefined, ['2026-06-16T02:00Z', '2026-06-17T02:00Z']],
  ['*/30 * * * * *', undefined, ['2026-06-15T12:30:30.000Z', '2026-06-15T12:31Z']],
  ['@daily', undefined, ['2026-06-16T00:00Z', '2026-06-17T00:00Z']],
  ['@every 90m', undefined, ['2026-06-15T14:00Z', '2026-06-15T15:30Z']],
  ['weekdays at 09:05', undefined, ['2026-06-16T09:05Z', '2026-06-17T09:05Z']],
  ['2027-01-01T00:00:00Z', undefined, ['2027-01-01T00:00Z']],
  ['CRON_TZ=Asia/Tokyo 0 9 * * *', undefined, ['2026-06-16T00:00Z', '2026-06-17T00:00Z']],
  [' TZ=Asia/Tokyo  @daily ', undefined, ['2026-06-15T15:00Z', '2026-06-16T15:00Z']],
  ['0 2 * * *', '2026-06-20T10:11:00Z', ['2026-06-20T10:11Z', '2026-06-21T02:00Z']],
  ['0 2 * * *', '2026-06-20T02:00:00Z', ['2026-06-20T02:00Z', '2026-06-21T02:00Z']],
  ['@every 1h', '2026-06-20T10:11:00Z', ['2026-06-20T10:11Z', '2026-06-20T11:11Z']],
  ['0 2 * * *', '2026-06-01T10:11:00Z', ['2026-06-01T10:11Z', '2026-06-16T02:00Z']],
  ['@every 1h', '2026-06-15T10:11:00Z', ['2026-06-15T10:11Z', '2026-06-15T13:11Z']],
]

for (const [text, first, expected] of TABLE) {
  test(`"${text}"${first ? `, first at ${first},` : ''} fires at ${expected.join(' and ')}`, () => {
    assert.deepEqual(
      times(read(text, first === undefined ? undefined : at(first)), expected.length),
      expected,
    )
  })
}

for (const [text, what] of [
  ['* * *', /3 fields/],
  ['61 * * * *', /61/],
  ['0 0 30 2 *', /./],
  ['@every', /./],
  ['@every 0s', /second/],
  ['@every soon', /./],
  ['@fortnightly', /@/],
  ['@reboot', /boot/],
  ['CRON_TZ=Mars/Base @daily', /Mars/],
  ['CRON_TZ=Europe/Berlin', /./],
  ['2001-01-01T00:00:00Z', /past/],
  ['2026-02-30T00:00:00Z', /calendar/],
  ['whenever it suits', /./],
  ['x'.repeat(10_000), /./],
] as const) {
  test(`"${text.slice(0, 40)}" is refused, and the error names the field`, () => {
    assert.throws(
      () => read(text),
      (error) =>
        error instanceof PunctualError &&
        error.code === 'invalid_schedule' &&
        error.field === 'schedule' &&
        error.message.startsWith('schedule: ') &&
        what.test(error.message) &&
        error.message.length < 500,
    )
  })
}

test('the original text is shown again, with its zone where that is not the default', () => {
  for (const text of ['0 2 * * *', '@every 90m', '@daily', 'CRON_TZ=Asia/Tokyo 0 9 * * *']) {
    const { rule } = read(text)
    assert.equal(writeCompatRecurrence([rule!], 'UTC'), text)
  }
  assert.equal(writeCompatRecurrence([], 'UTC'), null)
})
