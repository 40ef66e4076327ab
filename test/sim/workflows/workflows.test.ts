import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { WORKFLOW_BUGS } from './workflow-bugs.ts'
import { runWorkflowSeed } from './run-workflow-seed.ts'

const SEEDS = 7
const MAX_SEEDS = 25
const MOVES = 100
/** Outcomes that must occur, so that the seeds cover them. */
const WORTH_SEEING = [
  'succeeded',
  'failed',
  'cancelled',
  'failed expression',
  'failed expired',
  'skipped needs',
  'skipped condition',
  'skipped operator',
  'skipped cancelled',
]

test(`${SEEDS} seeds: steps start once and in time, and no workflow gets stuck under any fault`, async () => {
  const total = { workflows: 0, starts: 0, followers: 0 }
  const seen = new Set<string>()
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const { violations, outcomes, ...tracked } = await runWorkflowSeed(seed, MOVES)
    assert.deepEqual(violations, [], `seed ${seed}`)
    for (const outcome of outcomes) seen.add(outcome)
    const { workflows, starts, followers } = tracked
    total.workflows += workflows
    total.starts += starts
    total.followers += followers
  }
  const { workflows, starts, followers } = total
  const isThin = workflows < SEEDS * 8 || starts < SEEDS * 20 || followers < SEEDS * 4
  assert.ok(!isThin, `the seeds covered too little: ${JSON.stringify(total)}`)
  assert.deepEqual(
    WORTH_SEEING.filter((outcome) => !seen.has(outcome)),
    [],
  )
})

describe('each planted bug is found', () => {
  for (const bug of WORKFLOW_BUGS) {
    test(bug.name, async () => {
      for (let seed = 1; seed <= MAX_SEEDS; seed += 1) {
        const { violations } = await runWorkflowSeed(seed, MOVES, bug)
        if (violations.length > 0) return
      }
      assert.fail('no seed found it')
    })
  }
})
