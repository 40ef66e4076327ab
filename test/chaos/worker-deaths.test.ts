import assert from 'node:assert/strict'
import { test } from 'node:test'
import { killWorkers } from './worker-deaths.ts'

const isLinux = process.platform === 'linux'

for (const [kind, rounds] of [
  ['kill', 3],
  ['freeze', 2],
] as const) {
  test(
    `a worker is ${kind === 'kill' ? 'killed' : 'frozen'} with 20 trees under it: nothing outlives its lease, all finish elsewhere`,
    { skip: !isLinux && 'processes are found in /proc' },
    async (t) => {
      const { violations, goneMs } = await killWorkers({ kind, rounds })
      t.diagnostic(`${rounds} rounds, everything gone after ${goneMs.toFixed(0)} ms`)
      assert.deepEqual(violations, [])
    },
  )
}
