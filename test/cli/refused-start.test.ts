import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { makeCertificate, skipWithoutOpenssl } from '../support/certificate.ts'
import { openHome } from '../support/punctual-home.ts'
import { waitFor } from '../support/wait-for.ts'

test('a server with wrong settings lists all of them and exits with 78', async (t) => {
  const home = openHome(t)
  mkdirSync(home.dataDir)
  writeFileSync(join(home.dataDir, 'config.json'), '{"prot": 1, "open": "yes"}')
  const flags = ['--data', home.dataDir, '--listen', '0.0.0.0:0']
  const { code, out, err } = await home.run(['server', ...flags], { PUNCTUAL_SLOTS: 'many' })
  assert.deepEqual([code, out], [78, ''])
  assert.match(err, /✖ \S+config\.json has the setting "prot"; did you mean "port"\?\n/)
  assert.match(err, /✖ \S+config\.json needs true or false for "open"\n/)
  assert.match(err, /✖ slots "many" is not a whole number from 0 to 10000\n/)
  assert.match(err, /\n  help:  .+\n  code:  config_invalid\n$/)
})

test('a worker lists all wrong settings, and an unknown user prevents its start', async (t) => {
  const home = openHome(t)
  const worker = ['worker', '--server', 'http://127.0.0.1:1', '--token', 'x', '--queue', 'a']
  const many = ['--queue', 'b', '--limit', 'memory=0B', '--limit', 'ram=1', '--containment', 'jail']
  const wrong = await home.run([...worker, ...many])
  assert.equal(wrong.code, 78)
  assert.match(wrong.err, /✖ limit memory must be from 1 MiB to 65536 GiB\n/)
  assert.match(wrong.err, /✖ limit "ram=1" is not NAME=VALUE/)
  assert.match(wrong.err, /✖ containment "jail" is not one of auto, pidns, cgroup, group\n/)
  const stranger = await home.run([...worker, '--allow-user', 'root,nobody-by-that-name'])
  assert.equal(stranger.code, 78)
  assert.match(stranger.err, /✖ there is no user "nobody-by-that-name" on this machine/)
})

test('a repeatable flag may be given once or twice', async (t) => {
  const home = openHome(t)
  const hosts = ['--allow-host', 'a.example', '--allow-host', 'b.example']
  for (const count of [2, 4]) {
    const argv = ['server', '--data', home.dataDir, '--port', 'none', ...hosts.slice(0, count)]
    const { code, err } = await home.run(argv)
    assert.equal(code, 78, err)
    assert.match(err, /✖ port "none" is not a port\n/)
  }
})

test('without a token, only this machine is served', async (t) => {
  const home = openHome(t)
  const flags = ['--data', home.dataDir, '--listen', '0.0.0.0:0', '--open']
  const { code, err } = await home.run(['up', ...flags])
  assert.equal(code, 78)
  assert.match(err, /✖ open cannot be used with 0\.0\.0\.0: others could reach it without a token/)
})

test('a server whose token others could read does not start', async (t) => {
  const home = openHome(t)
  const token = join(home.dataDir, 'admin-token')
  mkdirSync(home.dataDir)
  writeFileSync(token, `${'k7QzW9xTbV2m'.repeat(4)}\n`)
  chmodSync(token, 0o644)
  const { code, err } = await home.run(['up', '--port', '0', '--data', home.dataDir])
  assert.equal(code, 78)
  assert.match(err, /✖ \S+admin-token can be read by other users; run chmod 600 on it\n/)
  assert.ok(!err.includes('k7Qz'), 'the token itself is not shown')
})

test(
  'a server whose key others can read does not start',
  { skip: skipWithoutOpenssl },
  async (t) => {
    const home = openHome(t)
    const { cert, key } = makeCertificate(home.dir)
    chmodSync(key, 0o644)
    const flags = ['--data', home.dataDir, '--port', '0', '--tls-cert', cert, '--tls-key', key]
    const { code, err } = await home.run(['server', ...flags])
    assert.equal(code, 78)
    assert.match(err, /✖ tls-key \S+server\.key can be read by every user/)
  },
)

test('a server whose port is taken exits and names the flag for another port', async (t) => {
  const home = openHome(t)
  const { port } = new URL(await home.up('--slots', '0'))
  const other = join(home.dir, 'other')
  const { code, err } = await home.run(['server', '--port', port, '--data', other])
  assert.equal(code, 78)
  assert.match(err, /✖ 127\.0\.0\.1:\d+ is taken by another program\n {2}help: {2}.* --port/)
})

/** A server that has a secret, then stopped. */
async function withSecret(t: TestContext) {
  const home = openHome(t)
  const { child, output, ended } = home.start(['server', '--port', '0', '--data', home.dataDir])
  await waitFor(() => output.out.includes('Try:'), {
    what: 'a server to be up',
    deadlineMs: 60_000,
  })
  const set = ['api', 'PUT', '/v1/secrets/PASSWORD', '-d', '{"value":"hunter22"}']
  assert.equal((await home.run(set)).code, 0)
  child.kill('SIGTERM')
  await ended
  const keyFile = join(home.dataDir, 'secret-key')
  const start = (...flags: string[]) =>
    home.run(['server', '--port', '0', '--data', home.dataDir, ...flags])
  return { ...home, keyFile, start }
}

test('a server with secrets does not start without their key, or with another key', async (t) => {
  const { keyFile, start } = await withSecret(t)
  const text = readFileSync(keyFile, 'utf8')
  assert.equal(statSync(keyFile).mode & 0o777, 0o600)
  const [id = '', key = ''] = text.trim().split(' ')
  const another = Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString('base64')
  const table: [why: string, file: string | null, mode: number, message: RegExp][] = [
    ['none', null, 0o600, /secret-key holds no key, and there are secrets sealed with the key k/],
    ['another one', `other ${another}\n`, 0o600, /secret-key lacks the key k\w+, and there are/],
    ['one that only has its name', `${id} ${another}\n`, 0o600, /holds another key k\w+ than/],
    ['a file that the group can read', text, 0o640, /can be read by other users; run chmod 600/],
    ['a file that every user can read', text, 0o604, /can be read by other users; run chmod 600/],
    ['an empty file', '\n', 0o600, /holds no key; remove it/],
    ['a file of something else', 'hello\n', 0o600, /has a line 1 that is not a key/],
    ['a key that is too short', `${id} ${key.slice(4)}\n`, 0o600, /has a line 1 that is not a key/],
    ['a weak key', `${id} ${'A'.repeat(43)}=\n`, 0o600, /is easy to guess/],
    ['a duplicate name', text + text, 0o600, /has two keys called k/],
  ]
  for (const [why, file, mode, output] of table) {
    rmSync(keyFile, { force: true })
    if (file !== null) {
      writeFileSync(keyFile, file)
      chmodSync(keyFile, mode)
    }
    const { code, out, err } = await start()
    assert.deepEqual([code, out], [78, ''], `${why}: ${err}`)
    assert.match(err, output, why)
    assert.match(err, /code:  config_invalid\n$/)
    assert.ok(!err.includes(key.slice(0, 8)), 'nothing of the key is shown')
    if (file === null) assert.ok(!existsSync(keyFile), 'and none is made in its place')
  }
})

test('a key file given by flag must exist', async (t) => {
  const home = openHome(t)
  const missing = join(home.dir, 'nowhere')
  const flags = ['--port', '0', '--data', home.dataDir]
  for (const [argv, env] of [
    [['--secret-key', missing], {}],
    [[], { PUNCTUAL_SECRET_KEY_FILE: missing }],
  ] as const) {
    const { code, err } = await home.run(['server', ...flags, ...argv], env)
    assert.equal(code, 78)
    assert.match(err, /✖ \S+nowhere is not there\n/)
  }
})
