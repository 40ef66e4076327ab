import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runScheduleSeed } from './run-schedule-seed.ts'
import { SCHEDULE_BUGS } from './schedule-bugs.ts'

const SEEDS = 12
const MAX_SEEDS = 25
const MOVES = 120

test(`${SEEDS} seeds: every due time of every schedule has one outcome, under any requests, node faults and clock changes`, async () => {
  let times = 0
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const result = await runScheduleSeed(seed, MOVES)
    assert.deepEqual(result.violations, [], `seed ${seed}`)
    times += result.times
  }
  assert.ok(times > SEEDS * 50, `only ${times} times: the seeds covered too little`)
})

describe('each planted bug is found', () => {
  for (const bug of SCHEDULE_BUGS) {
    test(bug.name, async () => {
      const { firstSeed: first = 1 } = bug
      for (let seed = first; seed < first + MAX_SEEDS; seed += 1) {
        const { violations } = await runScheduleSeed(seed, MOVES, bug)
        if (violations.length > 0) return
      }
      assert.fail('no seed found it')
    })
  }
})
