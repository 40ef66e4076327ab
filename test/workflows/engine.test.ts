import assert from 'node:assert/strict'
import { test } from 'node:test'
import { playFlow, type Seen } from './simulate-workflow.ts'

const FLOWS = 10_000

/** Of each of these there has to be a good number, or the flows were too tame to prove anything. */
const WORTH_SEEING = [
  ...['start', 'skip needs', 'skip cancelled', 'skip timeout'],
  ...['close succeeded', 'close failed', 'close cancelled', 'reload', 'old news'],
  ...['end succeeded', 'end failed error', 'end cancelled cancelled', 'end failed timeout'],
  ...['running fan-out', 'skipped condition', 'skipped operator', 'failed expression', 'waiting'],
]

test(`${FLOWS} random flows go as a naive evaluator says, in whichever order news come in`, () => {
  const seen: Seen = new Map()
  for (let seed = 1; seed <= FLOWS; seed += 1) {
    try {
      playFlow(seed, seen)
    } catch (error) {
      throw new Error(`the flow of seed ${seed} went another way`, { cause: error })
    }
  }
  const rare = WORTH_SEEING.filter((what) => (seen.get(what) ?? 0) < FLOWS / 50)
  assert.deepEqual(rare, [])
})
