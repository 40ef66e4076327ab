import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { createFakeTerminal } from '../../test/cli/fake-terminal.ts'
import { stopOnSignals } from './signals.ts'

afterEach(() => {
  process.removeAllListeners('SIGTERM').removeAllListeners('SIGINT')
})

function setUp() {
  let mono = 1_000
  const terminal = createFakeTerminal({ env: {} })
  const calls: string[] = []
  const { promise, resolve: finish } = Promise.withResolvers<void>()
  const notice = (text: string) => terminal.err(`punctual: ${text}\n`)
  const ended = stopOnSignals(
    { mono: () => mono, notice },
    {
      stop() {
        calls.push('stop')
        return promise
      },
      async killRunning() {
        calls.push('hurry')
        finish()
      },
    },
  )
  const signal = (afterMs: number, name: 'SIGTERM' | 'SIGINT' = 'SIGTERM') => {
    mono += afterMs
    process.emit(name, name)
  }
  return { terminal, calls, ended, signal, finish }
}

test('the same signal received twice at once counts once', async () => {
  const { terminal, calls, ended, signal, finish } = setUp()
  signal(0)
  signal(499)
  finish()
  assert.equal(await ended, 0)
  assert.deepEqual(calls, ['stop'])
  assert.equal(terminal.written.err, 'punctual: SIGTERM, stopping; send it again to stop at once\n')
})

test('a second signal does not wait for running attempts, and says so', async () => {
  const { terminal, calls, ended, signal } = setUp()
  signal(0, 'SIGINT')
  signal(500)
  assert.equal(await ended, 1)
  assert.deepEqual(calls, ['stop', 'hurry'])
  assert.match(terminal.written.err, /SIGTERM again; running attempts are killed\n$/)
})
