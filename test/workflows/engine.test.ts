import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulateWorkflow, type SimulatedEvent } from './simulate-workflow.ts'

const WORKFLOWS = 10_000

/** Each of these must occur often, or the random workflows are too simple to show anything. */
const WORTH_SEEING = [
  'start',
  'skip needs',
  'skip cancelled',
  'skip timeout',
  'close succeeded',
  'close failed',
  'close cancelled',
  'reload',
  'repeated event',
  'end succeeded',
  'end failed error',
  'end cancelled cancelled',
  'end failed timeout',
  'running fan-out',
  'skipped condition',
  'skipped operator',
  'failed expression',
  'waiting',
]

test(`${WORKFLOWS} random workflows match a naive evaluator in any order of signals`, () => {
  const seen: SimulatedEvent = new Map()
  for (let seed = 1; seed <= WORKFLOWS; seed += 1) {
    try {
      simulateWorkflow(seed, seen)
    } catch (error) {
      throw new Error(`the workflow of seed ${seed} differs`, { cause: error })
    }
  }
  const rare = WORTH_SEEING.filter((what) => (seen.get(what) ?? 0) < WORKFLOWS / 50)
  assert.deepEqual(rare, [])
})
