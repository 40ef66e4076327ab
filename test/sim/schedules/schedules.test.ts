import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runTimeSeed } from './run-schedule-seed.ts'
import { TIME_BUGS } from './schedule-bugs.ts'

const SEEDS = 12
const MOST_SEEDS = 25
const MOVES = 120

test(`${SEEDS} seeds: every time of every schedule has one fate, whatever people, nodes and clocks do`, async () => {
  let times = 0
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const result = await runTimeSeed(seed, MOVES)
    assert.deepEqual(result.violations, [], `seed ${seed}`)
    times += result.times
  }
  assert.ok(times > SEEDS * 50, `only ${times} times: the story is too thin`)
})

describe('each planted bug is caught', () => {
  for (const bug of TIME_BUGS) {
    test(bug.name, async () => {
      for (let seed = 1; seed <= MOST_SEEDS; seed += 1) {
        const { violations } = await runTimeSeed(seed, MOVES, bug)
        if (violations.length > 0) return
      }
      assert.fail('no seed noticed')
    })
  }
})
