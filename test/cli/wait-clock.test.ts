import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServerCalls } from '../../src/cli/server/server-calls.ts'
import { waitForRun } from '../../src/cli/watch/wait-run.ts'
import { createFakeTerminal } from './fake-terminal.ts'

for (const byMs of [-3_600_000, 3_600_000]) {
  test(`--timeout counts elapsed time, whatever happens to the wall clock (${byMs} ms)`, async () => {
    let [wall, mono] = [Date.UTC(2026, 0, 1), 0]
    let polls = 0
    const calls = {
      async call(_method: string, path: string) {
        if (path.endsWith('/why')) return { state: 'running', sentence: 'It has been running.' }
        polls += 1
        mono += 4_000
        wall += 4_000 + (polls === 1 ? byMs : 0)
        return { state: 'running', finished_at: null }
      },
    } as unknown as ServerCalls
    const terminal = { ...createFakeTerminal({ env: {} }), now: () => wall, mono: () => mono }
    const waiting = waitForRun('run_1', { calls, terminal, timeout: '10s' })
    await assert.rejects(waiting, /still running after 10s/)
    assert.equal(polls, 3)
  })
}
