import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeCertificate, withoutOpenssl } from '../support/certificate.ts'
import { openHome } from '../support/punctual-home.ts'

test('a server with wrong settings does not start, says all of them and leaves with 78', async (t) => {
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

test('a worker says all that is wrong with it, and an unknown user keeps it from starting', async (t) => {
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

test('nobody beyond this machine is let in without a token', async (t) => {
  const home = openHome(t)
  const flags = ['--data', home.dataDir, '--listen', '0.0.0.0:0', '--open']
  const { code, err } = await home.run(['up', ...flags])
  assert.equal(code, 78)
  assert.match(err, /✖ open cannot be used with 0\.0\.0\.0: others could reach it without a token/)
})

test('a server whose token others have seen does not start', async (t) => {
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

test('a server whose key others can read does not start', { skip: withoutOpenssl }, async (t) => {
  const home = openHome(t)
  const { cert, key } = makeCertificate(home.dir)
  chmodSync(key, 0o644)
  const flags = ['--data', home.dataDir, '--port', '0', '--tls-cert', cert, '--tls-key', key]
  const { code, err } = await home.run(['server', ...flags])
  assert.equal(code, 78)
  assert.match(err, /✖ tls-key \S+server\.key can be read by every user/)
})

test('a server whose port is taken ends, and says by which flag it takes another', async (t) => {
  const home = openHome(t)
  const { port } = new URL(await home.up('--slots', '0'))
  const other = join(home.dir, 'other')
  const { code, err } = await home.run(['server', '--port', port, '--data', other])
  assert.equal(code, 1)
  assert.match(err, /✖ 127\.0\.0\.1:\d+ is taken by another program; choose another with --port\n/)
})
