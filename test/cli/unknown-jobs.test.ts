import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { runProgram } from '../../src/cli/program.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { openApi, ROOT_TOKEN } from '../api/open-api.ts'
import { createFakeTerminal } from './fake-terminal.ts'

async function open(t: TestContext) {
  const api = await openApi(t)
  const env = { PUNCTUAL_SERVER: api.url, PUNCTUAL_TOKEN: ROOT_TOKEN }
  const run = async (...argv: string[]) => {
    const terminal = createFakeTerminal({ env, columns: 150 })
    const code = await runProgram(argv, { terminal, version: '9.9.9', addServerCommands: () => {} })
    return { code, ...terminal.written }
  }
  return { api, run }
}

test('a mistyped job is refused at once with the closest name; --task says it is a handler', async (t) => {
  const { api, run } = await open(t)
  await api.call('PUT', '/v1/jobs/backup', { body: { run: 'true' } })

  const typo = await run('run', 'backp')
  assert.deepEqual([typo.code, typo.out], [6, ''])
  assert.match(typo.err, /there is no job backp.*did you mean backup\?/)
  assert.match(typo.err, /punctual run --task backp/)
  for (const argv of [
    ['run', 'backp', '--wait'],
    ['run', 'backp', '-i', 'day=1'],
    ['at', 'in 2 hours', 'backp'],
  ]) {
    const { code, out, err } = await run(...argv)
    assert.deepEqual([code, out], [6, ''], argv.join(' '))
    assert.match(err, /did you mean backup\?/, argv.join(' '))
  }
  const json = await run('run', 'backp', '-o', 'json')
  assert.equal((JSON.parse(json.err) as { code: string }).code, 'job_not_found')

  const named = await run('run', '--task', 'send')
  assert.equal(named.code, 0, named.err)
  const { body } = await api.call<WireRun>('GET', `/v1/runs/${named.out.trim()}`)
  assert.deepEqual([body.job, body.state], ['send', 'ready'])
  assert.equal((await run('run', 'mails', '--task', 'send', '-i', 'to=me')).code, 0)
  assert.equal((await run('run', '--task', 'send', '--', 'true')).code, 2)
  assert.equal((await run('run', 'mails', 'again', '--task', 'send')).code, 2)
})

test('a handler of a worker runs by its name alone, with input by name too', async (t) => {
  const { api, run } = await open(t)
  await api.startWorker({ name: 'w1', handlers: { send: (input) => input } })
  const done = await run('run', 'send', '-i', 'to=me', '--wait', '-o', 'json')
  assert.equal(done.code, 0, done.err)
  assert.deepEqual((JSON.parse(done.out) as WireRun).result, { to: 'me' })
})
