import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PlantedBug } from './planted-bugs.ts'
import { goesToTheEnd, passingOver } from './planted-bugs.ts'
import { runTiersSeed } from './tiers.ts'

const SEEDS = 32
const MOVES = 300

const PLANTED: readonly { bug: PlantedBug; law: RegExp }[] = [
  {
    bug: { name: 'whoever came last is served first', store: goesToTheEnd },
    law: /^S2\.6 a run waited for more than its turn/,
  },
  {
    bug: {
      name: 'strong workers do not help out',
      working: (honest) => ({
        ...honest,
        register: (hello) => honest.register({ ...hello, queues: hello.queues.slice(0, 1) }),
      }),
    },
    law: /^S2\.6 a slot stayed free/,
  },
  {
    bug: {
      name: 'an earlier queue passed over until the next look',
      store: passingOver(({ queue }) => queue === 'heavy', 0.3),
    },
    law: /^S2\.6 a later queue was served/,
  },
]

test(`${SEEDS} worlds of two queues: heavy first, idle slots help out, and nobody waits for more than 2N claims`, async () => {
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

for (const { bug, law } of PLANTED) {
  test(`is noticed there: ${bug.name}`, async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const { violations } = await runTiersSeed(seed, MOVES, bug)
      if (violations.some((violation) => law.test(violation))) return
    }
    assert.fail('no seed noticed')
  })
}
