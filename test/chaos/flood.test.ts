import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flood } from './flood.ts'
import { SHORT_TIMES } from './short-times.ts'

const MB = 1_000_000
/** Also enough on a machine that is busy with other tests. */
const TIMES = { ...SHORT_TIMES, leaseTtlMs: 20_000, nodeTtlMs: 60_000, steadyMs: 60_000 }

for (const [what, isOneLine] of [
  ['200 MB in lines', false],
  ['200 MB in a single line', true],
] as const) {
  test(
    `${what}: output is cut at the exact byte, no lease is lost, and the worker stays small and responsive`,
    { skip: process.platform !== 'linux' && 'memory is read in /proc' },
    async (t) => {
      const plan = {
        bytes: 200 * MB + 7,
        limitBytes: 8 * MB + 3,
        isOneLine,
        times: TIMES,
        deadlineMs: 240_000,
        maxGapMs: TIMES.leaseTtlMs / 2,
        maxWorkerMb: 250,
      }
      const { violations, workerMb, longestGapMs, tookMs } = await flood(plan)
      const figures = `${workerMb.toFixed(0)} MB at most, ${longestGapMs.toFixed(0)} ms between heartbeats`
      t.diagnostic(`${(tookMs / 1_000).toFixed(1)} s, ${figures}`)
      assert.deepEqual(violations, [])
    },
  )
}
