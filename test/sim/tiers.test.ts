import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PlantedBug } from './planted-bugs.ts'
import { requeuesAtEnd, skippingLanes } from './planted-bugs.ts'
import { runTiersSeed } from './tiers.ts'

const SEEDS = 32
const MOVES = 300

const PLANTED: readonly { bug: PlantedBug; invariant: RegExp }[] = [
  {
    bug: { name: 'the newest run is served first', store: requeuesAtEnd },
    invariant: /^S2\.6 a run waited for more than its turn/,
  },
  {
    bug: {
      name: 'strong workers do not help out',
      workerClient: (original) => ({
        ...original,
        register: (hello, secret) =>
          original.register({ ...hello, queues: hello.queues.slice(0, 1) }, secret),
      }),
    },
    invariant: /^S2\.6 a slot stayed free/,
  },
  {
    bug: {
      name: 'an earlier queue skipped until the next refresh',
      store: skippingLanes(({ queue }) => queue === 'heavy', 0.3),
    },
    invariant: /^S2\.6 a later queue was served/,
  },
]

test(`${SEEDS} worlds of two queues: heavy first, idle slots help out, and no run waits for more than 2N claims`, async () => {
  const violations: string[] = []
  let runs = 0
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const result = await runTiersSeed(seed, MOVES)
    violations.push(...result.violations.map((violation) => `seed ${seed}: ${violation}`))
    runs += result.runs
  }
  assert.deepEqual(violations, [])
  assert.ok(runs > SEEDS * MOVES * 0.3, `only ${runs} runs`)
})

for (const { bug, invariant } of PLANTED) {
  test(`these worlds find the planted bug: ${bug.name}`, async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const { violations } = await runTiersSeed(seed, MOVES, bug)
      if (violations.some((violation) => invariant.test(violation))) return
    }
    assert.fail('no seed found it')
  })
}
