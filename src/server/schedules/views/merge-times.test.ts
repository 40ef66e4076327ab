import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BackfilledTime, OccurrenceRecord } from '../../../store/port.ts'
import { mergeTimes } from './merge-times.ts'

const record = (nominalAt: number, untilAt = nominalAt) =>
  ({ nominalAt, untilAt }) as OccurrenceRecord
const madeAt = (nominalAt: number, runId = nominalAt): BackfilledTime => ({
  nominalAt,
  runId,
  backfillId: 1,
})

/** `5` is a record, `5:7` one with run 7, `(5:7)` only the run. */
function merge(
  past: OccurrenceRecord[],
  made: BackfilledTime[],
  cut: { past?: boolean; made?: boolean } = {},
): string {
  const merged = mergeTimes(
    { list: past, isCut: cut.past ?? false },
    { list: made, isCut: cut.made ?? false },
  )
  return merged
    .map(({ nominalAt, untilAt, record: known, made: runs }) => {
      const time = nominalAt === untilAt ? `${nominalAt}` : `${nominalAt}-${untilAt}`
      const text = [time, ...runs.map(({ runId }) => runId)].join(':')
      return known ? text : `(${text})`
    })
    .join(' ')
}

const table: [why: string, times: string, expected: string][] = [
  ['nothing', merge([], []), ''],
  ['only what came due', merge([record(1), record(2)], []), '1 2'],
  ['only what was there before the schedule', merge([], [madeAt(1), madeAt(2)]), '(1:1) (2:2)'],
  [
    'before, between, at and after',
    merge([record(3), record(6)], [madeAt(1), madeAt(3), madeAt(4), madeAt(9)]),
    '(1:1) 3:3 (4:4) 6 (9:9)',
  ],
  ['a time that was made up for twice', merge([record(3)], [madeAt(3, 7), madeAt(3, 8)]), '3:7:8'],
  [
    'a range',
    merge([record(3, 6)], [madeAt(2), madeAt(4), madeAt(6), madeAt(7)]),
    '(2:2) 3-6:4:6 (7:7)',
  ],
  [
    'what comes after records that were cut off may belong to those',
    merge([record(3)], [madeAt(3), madeAt(5)], { past: true }),
    '3:3',
  ],
  [
    'what comes after runs that were cut off may have some',
    merge([record(3), record(4), record(5)], [madeAt(3), madeAt(4)], { made: true }),
    '3:3',
  ],
  [
    'a range with more backfilled runs than a page shows is listed with some of them',
    merge([record(3, 9), record(10)], [madeAt(3), madeAt(4)], { made: true }),
    '3-9:3:4',
  ],
]
for (const [why, times, expected] of table) test(why, () => assert.equal(times, expected))
