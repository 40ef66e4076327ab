import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runProgram } from '../../src/cli/program.ts'
import { parseKeys } from '../../src/core/secrets/key-file.ts'
import { openApi, ROOT_TOKEN } from '../api/open-api.ts'
import { openHome } from '../support/punctual-home.ts'
import { createFakeTerminal } from './fake-terminal.ts'

async function open(t: TestContext) {
  const api = await openApi(t)
  const env = { PUNCTUAL_SERVER: api.url, PUNCTUAL_TOKEN: ROOT_TOKEN }
  const run = async (argv: readonly string[], input?: string) => {
    const terminal = createFakeTerminal({ env, input })
    const options = { terminal, version: '9.9.9', addServerCommands: () => {} }
    return { code: await runProgram(argv, options), ...terminal.written }
  }
  return { api, run }
}

test('a secret is set from standard input, used by a command, listed and removed', async (t) => {
  const { api, run } = await open(t)
  await api.startWorker()
  const empty = await run(['secret', 'ls'])
  assert.match(empty.err, /^No secrets yet\. Try: punctual secret set PGPASSWORD/)
  const set = await run(['secret', 'set', 'PGPASSWORD'], 'hunter22\n')
  assert.deepEqual(set, { code: 0, out: 'PGPASSWORD is set (version 1)\n', err: '' })
  const script = ['--', 'sh', '-c', 'printf %s "$PGPASSWORD" | wc -c; echo "$PGPASSWORD"']
  const exec = await run(['exec', '--secret', 'PGPASSWORD', ...script])
  assert.deepEqual(exec, { code: 0, out: '8\n***\n', err: '' })
  const { out } = await run(['secret', 'ls'])
  assert.match(out, /^NAME +VERSION +SET +BY +KEY\nPGPASSWORD +1 +\S+ ago +\S+ +k1\n$/)
  assert.equal((await run(['secret', 'rm', 'PGPASSWORD'])).code, 0)
  const again = await run(['secret', 'rm', 'PGPASSWORD'])
  assert.equal(again.code, 6)
  assert.match(again.err, /there is no secret PGPASSWORD[^]*code:  secret_not_found/)
})

test('the final line break of a single line is not part of the value; several lines are kept unchanged', async (t) => {
  const { api, run } = await open(t)
  await api.startWorker()
  const count = ['--', 'sh', '-c', 'wc -c < "$KEY_FILE" 2>/dev/null || printf %s "$KEY" | wc -c']
  for (const [input, bytes] of [
    ['hunter22', '8'],
    ['hunter22\r\n', '8'],
    ['hunter22\nhunter23\n', '18'],
    ['hunter22\n\n', '10'],
  ] as const) {
    await run(['secret', 'set', 'KEY'], input)
    assert.equal((await run(['exec', '--secret', 'KEY', ...count])).out.trim(), bytes)
  }
})

test('a cancelled prompt sets nothing', async (t) => {
  const { run } = await open(t)
  const { code, err } = await run(['secret', 'set', 'KEY'])
  assert.equal(code, 130)
  assert.match(err, /nothing was set/)
  const short = await run(['secret', 'set', 'KEY'], 'abc')
  assert.equal(short.code, 2)
  assert.match(short.err, /fewer than 4 characters/)
})

test('a new key is put first, in a file only its owner can read', async (t) => {
  const { run } = await open(t)
  const file = join(openHome(t).dir, 'keys')
  const ids = []
  for (let count = 0; count < 2; count += 1) {
    ids.unshift((await run(['secret', 'new-key', file, '-o', 'name'])).out.trim())
  }
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const keys = parseKeys(readFileSync(file, 'utf8'))
  assert.ok(typeof keys !== 'string')
  assert.deepEqual(
    keys.map(({ id }) => id),
    ids,
  )
})

test('a rotation reports what it did', async (t) => {
  const { run } = await open(t)
  await run(['secret', 'set', 'KEY'], 'hunter22')
  const { code, out } = await run(['secret', 'rotate-key'])
  assert.equal(code, 0)
  assert.equal(out, '0 secrets are sealed anew, with the key k1\nno other key is needed any more\n')
})
