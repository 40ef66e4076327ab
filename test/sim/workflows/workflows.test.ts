import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FLOW_BUGS } from './workflow-bugs.ts'
import { runWorkflowSeed } from './run-workflow-seed.ts'

const SEEDS = 6
const MOST_SEEDS = 25
const MOVES = 100
/** What did not happen was not survived. */
const WORTH_SEEING = [
  ...['succeeded', 'failed', 'cancelled', 'failed expression', 'failed expired'],
  ...['skipped needs', 'skipped condition', 'skipped operator', 'skipped cancelled'],
]

test(`${SEEDS} seeds: steps start once and in time, and no flow gets stuck, whatever happens`, async () => {
  const total = { flows: 0, starts: 0, followers: 0 }
  const seen = new Set<string>()
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const { violations, fates, ...story } = await runWorkflowSeed(seed, MOVES)
    assert.deepEqual(violations, [], `seed ${seed}`)
    for (const fate of fates) seen.add(fate)
    const { flows, starts, followers } = story
    total.flows += flows
    total.starts += starts
    total.followers += followers
  }
  const { flows, starts, followers } = total
  const isThin = flows < SEEDS * 8 || starts < SEEDS * 20 || followers < SEEDS * 4
  assert.ok(!isThin, `the story is too thin: ${JSON.stringify(total)}`)
  assert.deepEqual(
    WORTH_SEEING.filter((fate) => !seen.has(fate)),
    [],
  )
})

describe('each planted bug is caught', () => {
  for (const bug of FLOW_BUGS) {
    test(bug.name, async () => {
      for (let seed = 1; seed <= MOST_SEEDS; seed += 1) {
        const { violations } = await runWorkflowSeed(seed, MOVES, bug)
        if (violations.length > 0) return
      }
      assert.fail('no seed noticed')
    })
  }
})
