import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FAULTS, MET_STATES } from './coverage.ts'
import { runSeeds } from './run-seeds.ts'

const SEEDS = 500
const MOVES = 400
const LEAST_MEETINGS = 20

test(`${SEEDS} seeds of ${MOVES} moves break no law, and every fault meets every state`, async () => {
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
  assert.deepEqual(coverage.missing(LEAST_MEETINGS), [])
  assert.ok(FAULTS.length * MET_STATES.length >= 80)
})
