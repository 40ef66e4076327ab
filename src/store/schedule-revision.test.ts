import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditEntry, ScheduleRevision } from './port.ts'
import { isRevisionCurrent } from './schedule-revision.ts'

const audit = {} as AuditEntry
const put = (id: number, nominalAt: number | null) => ({
  id,
  name: 'a',
  spec: '{}',
  next: { nominalAt, checkAt: nominalAt },
  audit,
})
const row = (id: number, version: number, lastNominalAt: number | null = null) => ({
  id,
  version,
  lastNominalAt,
})
const SEEN = [
  { id: 1, version: 4 },
  { id: 2, version: 1 },
]

const table: [
  string,
  Partial<ScheduleRevision>,
  Parameters<typeof isRevisionCurrent>[1],
  boolean,
][] = [
  ['a job without schedules', { seen: [] }, [], true],
  ['all unchanged, in any order', {}, [row(2, 1), row(1, 4)], true],
  ['one was deleted', {}, [row(1, 4)], false],
  ['one was created', {}, [row(1, 4), row(2, 1), row(3, 1)], false],
  ['one was deleted and another created', {}, [row(1, 4), row(3, 1)], false],
  ['one was changed', {}, [row(1, 5), row(2, 1)], false],
  ['one fired that is not changed', {}, [row(1, 4, 900), row(2, 1)], true],
  [
    'one fired, and its next time is later',
    { puts: [put(1, 901)] },
    [row(1, 4, 900), row(2, 1)],
    true,
  ],
  [
    'one fired the next time of the put',
    { puts: [put(1, 900)] },
    [row(1, 4, 900), row(2, 1)],
    false,
  ],
  ['one without a next time', { puts: [put(1, null)] }, [row(1, 4, 900), row(2, 1)], true],
  ['a new one', { puts: [put(9, 1)] }, [row(1, 4, 900), row(2, 1)], true],
]
for (const [what, revision, rows, holds] of table) {
  test(`${what}: ${holds ? 'the revision is current' : 'the revision must be decided again'}`, () => {
    assert.equal(isRevisionCurrent({ seen: SEEN, puts: [], removes: [], ...revision }, rows), holds)
  })
}
