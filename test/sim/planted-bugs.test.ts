import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { PLANTED_BUGS } from './planted-bugs.ts'
import { runSeeds } from './run-seeds.ts'

const MOVES = 400

describe('each planted bug is found', () => {
  for (const { name, invariant = /^/, firstSeed: first = 1 } of PLANTED_BUGS) {
    test(name, async () => {
      const { failed } = await runSeeds({
        first,
        count: 400,
        moves: MOVES,
        bug: name,
        untilCaught: true,
      })
      assert.ok(failed.length > 0, 'no seed found it')
      assert.ok(
        failed.some(({ violations }) => violations.some((violation) => invariant.test(violation))),
        `only ${failed[0]?.violations[0]}`,
      )
    })
  }
})
