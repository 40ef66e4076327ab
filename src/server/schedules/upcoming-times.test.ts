import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeSpec } from '../../core/schedule/firing/schedule-spec.ts'
import type { ScheduleRecord, ScheduleStore } from '../../store/port.ts'
import { earliest, soonFiring } from './upcoming-times.ts'
import { createRuleBook } from './rule-cache.ts'

const OURS = 1
const OTHERS = 2
const rules = createRuleBook()
const HOURLY = encodeSpec({ rule: { cron: '0 * * * *', zone: 'UTC' } })
const HOUR = 3_600_000

const recordOf = (id: number, projectId: number): ScheduleRecord =>
  ({
    ...{ id, projectId, spec: HOURLY, next: { nominalAt: HOUR, lookAt: HOUR } },
    ...{ pause: null, skipNominalAt: null, error: null, lastNominalAt: null, openRuns: [] },
  }) as unknown as ScheduleRecord

function storeWith(records: readonly ScheduleRecord[]): Pick<ScheduleStore, 'dueSchedules'> {
  return {
    dueSchedules: async ({ after, limit }) =>
      records.filter(({ id }) => after === null || id > after.id).slice(0, limit),
  }
}

const manyOfOthers = Array.from({ length: 1_500 }, (_, id) => recordOf(id, OTHERS))
const asked = { projectId: OURS, rules, now: 0, count: 2 }

test('ours are found behind many of others', async () => {
  const store = storeWith([...manyOfOthers, recordOf(1_500, OURS)])
  const { records, complete } = await soonFiring(store, asked)
  assert.deepEqual([records.map(({ id }) => id), complete], [[1_500], true])
  assert.deepEqual(
    earliest(records, rules, 0, 2).map(({ at }) => at),
    [HOUR, 2 * HOUR],
  )
})

test('an answer that had to leave some out says so', async () => {
  const store = storeWith([...manyOfOthers, recordOf(1_500, OURS)])
  const cut = await soonFiring(store, { ...asked, most: 1_000 })
  assert.deepEqual([cut.records, cut.complete], [[], false])
  const all = await soonFiring(storeWith(manyOfOthers.slice(0, 700)), { ...asked, most: 1_000 })
  assert.deepEqual([all.records, all.complete], [[], true])
})
