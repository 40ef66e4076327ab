import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { runProgram } from '../../src/cli/program.ts'
import { openApi, ROOT_TOKEN } from '../api/open-api.ts'
import { createFakeTerminal } from './fake-terminal.ts'

async function open(t: TestContext) {
  const { url } = await openApi(t)
  return async (...argv: string[]) => {
    const env = { PUNCTUAL_SERVER: url, PUNCTUAL_TOKEN: ROOT_TOKEN }
    const terminal = createFakeTerminal({ env, isInteractive: false, columns: 100 })
    const code = await runProgram(argv, { terminal, version: '9.9.9', addServerCommands: () => {} })
    return { code, ...terminal.written }
  }
}

test('a queue is limited, listed and freed again', async (t) => {
  const run = await open(t)
  assert.match((await run('queue', 'ls')).err, /No queues yet/)
  const set = await run('queue', 'set', 'mail', '--rate', '100/1m', '--max-timeout', '1h')
  assert.match(set.out, /rate +100 every 1m, 2 at once/)
  assert.match(set.out, /default timeout +no limit\n +max timeout +1h/)
  assert.match((await run('queue', 'ls')).out, /mail +on +0 +0 +100 every 1m, 2 at once +1h/)
  const burst = await run('queue', 'set', 'mail', '--rate', '5/s', '--burst', '9', '-o', 'json')
  const { rate, max_timeout_ms } = JSON.parse(burst.out) as Record<string, unknown>
  assert.deepEqual([rate, max_timeout_ms], [{ limit: 5, per_ms: 1_000, burst: 9 }, 3_600_000])
  assert.match((await run('queue', 'set', 'mail', '--rate', 'none')).out, /rate +no limit/)
})

test('an invalid rate is refused before any request', async (t) => {
  const run = await open(t)
  for (const argv of [
    ['queue', 'set', 'mail'],
    ['queue', 'set', 'mail', '--rate', 'fast'],
    ['queue', 'set', 'mail', '--rate', '5/s', '--burst', '0'],
    ['queue', 'set', 'mail', '--burst', '5'],
    ['queue', 'set', 'mail', '--rate', '5/1ms'],
  ]) {
    const { code, err } = await run(...argv)
    assert.equal(code, 2, `${argv.join(' ')}: ${err}`)
  }
})
