import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RewindCommand, ScheduleRecord } from '../../../store/port.ts'
import { createScheduleRewinder } from './schedule-rewinder.ts'
import type { RuleCache } from '../rule-cache.ts'

const NOW = Date.UTC(2026, 0, 1)
const LATER = NOW + 3_600_000

/**
 * A store with schedules that wait for a time of the rejected future; another node changes some of
 * them.
 */
function setUp(changes: number) {
  const versions = new Map([1, 2, 3].map((id) => [id, 1]))
  const rewound: number[] = []
  let left = changes
  const read = (id: number) =>
    ({
      id,
      version: versions.get(id),
      spec: 'x',
      lastNominalAt: LATER,
      updatedAt: NOW,
      next: { nominalAt: LATER + 1_000, checkAt: LATER + 1_000 },
      pause: null,
    }) as unknown as ScheduleRecord
  const store = {
    async schedulesAhead({ after }: { after: number }) {
      return [1, 2, 3].filter((id) => id > after && !rewound.includes(id)).map(read)
    },
    async rewindSchedules(commands: readonly RewindCommand[]) {
      if (left > 0) {
        left -= 1
        versions.set(2, (versions.get(2) as number) + 1)
      }
      const same = commands.filter(({ id, version }) => versions.get(id) === version)
      rewound.push(...same.map(({ id }) => id))
      return same.length
    },
    async rewindTimers() {},
  }
  const times = { next: (at: number) => at + 1_000, jitterOf: () => 0, afterFinish: null }
  const rules = (() => ({ ok: true, times })) as unknown as RuleCache
  let isDone = false
  const signals = { schedulesRewound: () => void (isDone = true) }
  const rewinding = createScheduleRewinder({ store, rules, storeNow: () => NOW, signals })
  const run = async () => {
    let steps = 0
    for (rewinding.begin(); await rewinding.step(); steps += 1) assert.ok(steps < 100, 'it ends')
    return { rewound: rewound.toSorted((a, b) => a - b), isDone, isPending: rewinding.isPending() }
  }
  return { run }
}

test('a schedule that changes while it is rewound is read again and rewound in its new version', async () => {
  const done = { rewound: [1, 2, 3], isDone: true, isPending: false }
  assert.deepEqual(await setUp(0).run(), done)
  assert.deepEqual(await setUp(3).run(), done)
})

test('a schedule that changes all the time does not keep the others from firing', async () => {
  const { rewound, isDone } = await setUp(1_000).run()
  assert.deepEqual([rewound, isDone], [[1, 3], true])
})
