import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeSpec } from '../../../core/schedule/firing/schedule-spec.ts'
import type { ScheduleRecord, ScheduleStore } from '../../../store/port.ts'
import { earliest, upcomingSchedules } from './upcoming-times.ts'
import { createRuleCache } from '../rule-cache.ts'

const PROJECT = 1
const OTHER_PROJECT = 2
const rules = createRuleCache()
const HOURLY = encodeSpec({ rule: { cron: '0 * * * *', zone: 'UTC' } })
const HOUR = 3_600_000

const recordOf = (id: number, projectId: number): ScheduleRecord =>
  ({
    id,
    projectId,
    spec: HOURLY,
    next: { nominalAt: HOUR, checkAt: HOUR },
    pause: null,
    skipNominalAt: null,
    error: null,
    lastNominalAt: null,
    openRuns: [],
  }) as unknown as ScheduleRecord

function storeWith(records: readonly ScheduleRecord[]): Pick<ScheduleStore, 'dueSchedules'> {
  return {
    dueSchedules: async ({ after, limit }) =>
      records.filter(({ id }) => after === null || id > after.id).slice(0, limit),
  }
}

const manyOfOthers = Array.from({ length: 1_500 }, (_, id) => recordOf(id, OTHER_PROJECT))
const asked = { projectId: PROJECT, rules, now: 0, count: 2 }

test('schedules of the project are found behind many of other projects', async () => {
  const store = storeWith([...manyOfOthers, recordOf(1_500, PROJECT)])
  const { records, complete } = await upcomingSchedules(store, asked)
  assert.deepEqual([records.map(({ id }) => id), complete], [[1_500], true])
  assert.deepEqual(
    earliest(records, rules, 0, 2).map(({ at }) => at),
    [HOUR, 2 * HOUR],
  )
})

test('an incomplete answer says so', async () => {
  const store = storeWith([...manyOfOthers, recordOf(1_500, PROJECT)])
  const cut = await upcomingSchedules(store, { ...asked, most: 1_000 })
  assert.deepEqual([cut.records, cut.complete], [[], false])
  const all = await upcomingSchedules(storeWith(manyOfOthers.slice(0, 700)), {
    ...asked,
    most: 1_000,
  })
  assert.deepEqual([all.records, all.complete], [[], true])
})
