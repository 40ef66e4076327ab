import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clockChanges } from './clock-changes.ts'
import { localTime } from './local-time.ts'
import type { RuleSource } from './rule/rule.ts'

const YEAR = [Date.UTC(2026, 0, 1), Date.UTC(2027, 0, 1)] as const

/** The effects of the clock changes of 2026 on a rule, one line for each change. */
function story(source: RuleSource): string[] {
  const local = (at: number) => localTime(at, source.zone ?? 'UTC').slice(5)
  return clockChanges(source, ...YEAR).map(({ at, gap, repeat }) => {
    if (gap) return `${local(at)} gap ${gap.firesAt === null ? 'left out' : local(gap.firesAt)}`
    if (repeat) return `${local(at)} twice ${repeat.fires.map(local).join(' ')}`
    return `${local(at)} nothing`
  })
}

const berlin = (cron: string, dst: RuleSource['dst'] = {}): RuleSource => ({
  cron,
  zone: 'Europe/Berlin',
  dst,
})
const table: [why: string, source: RuleSource, story: string[]][] = [
  ['a place without changes', { cron: '30 2 * * *', zone: 'Asia/Tokyo' }, []],
  ['UTC', { cron: '30 2 * * *' }, []],
  [
    'a time in both',
    berlin('30 2 * * *'),
    [
      '03-29T03:00:00+02:00 gap 03-29T03:00:00+02:00',
      '10-25T02:00:00+01:00 twice 10-25T02:30:00+02:00',
    ],
  ],
  [
    'left out, and both',
    berlin('30 2 * * *', { gap: 'skip', repeat: 'both' }),
    [
      '03-29T03:00:00+02:00 gap left out',
      '10-25T02:00:00+01:00 twice 10-25T02:30:00+02:00 10-25T02:30:00+01:00',
    ],
  ],
  [
    'the second of the two',
    berlin('30 2 * * *', { repeat: 'last' }),
    [
      '03-29T03:00:00+02:00 gap 03-29T03:00:00+02:00',
      '10-25T02:00:00+01:00 twice 10-25T02:30:00+01:00',
    ],
  ],
  [
    'a time in neither',
    berlin('0 9 * * *'),
    ['03-29T03:00:00+02:00 nothing', '10-25T02:00:00+01:00 nothing'],
  ],
  [
    'elapsed time',
    berlin('*/30 * * * *'),
    ['03-29T03:00:00+02:00 nothing', '10-25T02:00:00+01:00 nothing'],
  ],
  [
    'another day of the week',
    berlin('30 2 * * mon'),
    ['03-29T03:00:00+02:00 nothing', '10-25T02:00:00+01:00 nothing'],
  ],
  [
    'half an hour, on the other half of the world',
    { cron: '45 1 * * *', zone: 'Australia/Lord_Howe' },
    ['04-05T01:30:00+10:30 twice 04-05T01:45:00+11:00', '10-04T02:30:00+11:00 nothing'],
  ],
]

for (const [why, source, expected] of table)
  test(why, () => assert.deepEqual(story(source), expected))

test('shows the effect on a rule that fires every minute', () => {
  const [, autumn] = clockChanges(berlin('* 2 * * *'), ...YEAR)
  assert.equal(autumn?.repeat?.fires.length, 60)
})
