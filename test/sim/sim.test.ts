import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FAULTS, COVERED_STATES } from './coverage.ts'
import { runSeeds } from './run-seeds.ts'

/** `npm run sim` and `npm run accept -- engine H3` run 500. */
const SEEDS = 80
const MOVES = 400
const MIN_HITS = 20

test(`${SEEDS} seeds of ${MOVES} moves break no invariant, and every fault meets every state`, async () => {
  const { failed, seeds, moves, coverage } = await runSeeds({
    first: 1,
    count: SEEDS,
    moves: MOVES,
  })
  assert.deepEqual(
    failed.map(({ seed, violations }) => `seed ${seed}: ${violations[0]}`),
    [],
  )
  assert.equal(seeds, SEEDS)
  assert.equal(moves, SEEDS * MOVES)
  assert.deepEqual(coverage.missing(MIN_HITS), [])
  assert.ok(FAULTS.length * COVERED_STATES.length >= 80)
})
