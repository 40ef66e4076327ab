import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runSeeds } from './run-seeds.ts'

/** `npm run sim -- --world hostile` runs 500 seeds of 400 moves. */
const SEEDS = 40
const MOVES = 200

test('a worker with foreign tokens and known ids gets nothing and breaks no invariant', async () => {
  const { failed, moves } = await runSeeds({
    first: 1,
    count: SEEDS,
    moves: MOVES,
    isHostile: true,
  })
  assert.deepEqual(
    failed.map(({ seed, violations }) => `seed ${seed}: ${violations[0]}`),
    [],
  )
  assert.equal(moves, SEEDS * MOVES)
})
