import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeTerminal } from '../../test/cli/fake-terminal.ts'
import { waitFor } from '../../test/support/wait-for.ts'
import { stopOnSignals } from './signals.ts'

test('the same signal heard twice at once is one signal', async () => {
  const terminal = createFakeTerminal({ env: {} })
  let stops = 0
  let finish = () => {}
  const stopped = stopOnSignals(terminal, () => {
    stops += 1
    return new Promise((resolve) => {
      finish = resolve
    })
  })
  process.kill(process.pid, 'SIGTERM')
  await waitFor(() => stops === 1, { what: 'it to stop' })
  process.emit('SIGTERM', 'SIGTERM')
  finish()
  assert.equal(await stopped, 0)
  assert.equal(terminal.written.err, 'punctual: SIGTERM, stopping; once more to stop at once\n')
  process.removeAllListeners('SIGTERM').removeAllListeners('SIGINT')
})
