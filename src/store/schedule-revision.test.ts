import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditEntry, ScheduleRevision } from './port.ts'
import { stillHolds } from './schedule-revision.ts'

const audit = {} as AuditEntry
const put = (id: number, nominalAt: number | null) => ({
  ...{ id, name: 'a', spec: '{}', next: { nominalAt, lookAt: nominalAt }, audit },
})
const row = (id: number, version: number, lastNominalAt: number | null = null) => ({
  ...{ id, version, lastNominalAt },
})
const SEEN = [
  { id: 1, version: 4 },
  { id: 2, version: 1 },
]

const table: [string, Partial<ScheduleRevision>, Parameters<typeof stillHolds>[1], boolean][] = [
  ['a job that never had any', { seen: [] }, [], true],
  ['all as they were, in any order', {}, [row(2, 1), row(1, 4)], true],
  ['one is gone', {}, [row(1, 4)], false],
  ['one has come', {}, [row(1, 4), row(2, 1), row(3, 1)], false],
  ['one has gone and another come', {}, [row(1, 4), row(3, 1)], false],
  ['one was changed', {}, [row(1, 5), row(2, 1)], false],
  ['one fired that is left as it is', {}, [row(1, 4, 900), row(2, 1)], true],
  ['one fired, and goes on after that', { puts: [put(1, 901)] }, [row(1, 4, 900), row(2, 1)], true],
  ['one fired what is to come', { puts: [put(1, 900)] }, [row(1, 4, 900), row(2, 1)], false],
  ['one that shall end', { puts: [put(1, null)] }, [row(1, 4, 900), row(2, 1)], true],
  ['a new one', { puts: [put(9, 1)] }, [row(1, 4, 900), row(2, 1)], true],
]
for (const [what, revision, rows, holds] of table) {
  test(`${what}: ${holds ? 'it still holds' : 'it must be decided again'}`, () => {
    assert.equal(stillHolds({ seen: SEEN, puts: [], removes: [], ...revision }, rows), holds)
  })
}
