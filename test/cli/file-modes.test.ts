import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { findServer } from '../../src/cli/server/server-address.ts'
import { openHome } from '../support/punctual-home.ts'
import { startKillableServer } from '../support/killable-server.ts'
import { waitFor } from '../support/wait-for.ts'

test('files of a server that others could read are private after its next start', async (t) => {
  const home = openHome(t)
  const first = await startKillableServer(home, '--slots', '0')
  const modes = () =>
    Object.fromEntries(
      readdirSync(home.dataDir).map((name) => {
        const { mode } = statSync(join(home.dataDir, name))
        return [name, (mode & 0o777).toString(8)]
      }),
    )
  const fresh = modes()
  for (const name of ['punctual.db', 'punctual.db-wal', 'punctual.db-shm', 'punctual.db.lock']) {
    assert.equal(fresh[name], '600', `a new ${name}`)
  }
  await first.kill()
  chmodSync(home.dataDir, 0o755)
  for (const name of Object.keys(fresh)) {
    // These are refused instead: a secret that others may have read is no longer secret.
    if (name === 'admin-token' || name === 'secret-key') continue
    chmodSync(join(home.dataDir, name), fresh[name] === '700' ? 0o755 : 0o644)
  }
  await startKillableServer(home, '--slots', '0')
  assert.equal(statSync(home.dataDir).mode & 0o777, 0o700)
  for (const [name, mode] of Object.entries(fresh)) assert.equal(modes()[name], mode, name)
  assert.ok(Object.values(modes()).every((mode) => mode === '600' || mode === '700'))
})

test('a server does not write its address through a link', async (t) => {
  const home = openHome(t)
  mkdirSync(home.dataDir, { mode: 0o700 })
  const victim = join(home.dir, 'victim')
  symlinkSync(victim, join(home.dataDir, 'server.json'))
  const { code, err } = await home.run(['server', '--port', '0', '--data', home.dataDir])
  assert.equal(code, 78)
  assert.match(err, /✖ \S+server\.json is a symbolic link and is not written through\n/)
  assert.match(err, /help:  .*rm \S+server\.json/)
  assert.ok(!existsSync(victim))
})

const notRoot = process.getuid?.() !== 0 && 'only root can give files away: sudo npm test'

test('a server does not start where another user can write', { skip: notRoot }, async (t) => {
  const home = openHome(t)
  mkdirSync(home.dataDir, { mode: 0o700 })
  writeFileSync(join(home.dataDir, 'punctual.db'), '')
  chownSync(join(home.dataDir, 'punctual.db'), 65_534, 65_534)
  const { code, err } = await home.run(['server', '--port', '0', '--data', home.dataDir])
  assert.equal(code, 78)
  assert.match(err, /✖ \S+punctual\.db can be written by other users\n/)
  assert.match(err, /help:  Run chown 0 \S+punctual\.db/)
})

test('the command line ignores an address file of another user', { skip: notRoot }, (t) => {
  const home = openHome(t)
  const data = join(home.dir, '.punctual')
  mkdirSync(data)
  const beacon = join(data, 'server.json')
  const tokenFile = join(home.dir, 'token')
  writeFileSync(tokenFile, 'pun_admin_x')
  const own = { url: 'http://127.0.0.1:9', tokenFile, pid: process.pid }
  writeFileSync(beacon, JSON.stringify(own), { mode: 0o600 })
  const find = () => findServer({}, { env: home.env, cwd: home.dir }).urls[0]
  assert.equal(find(), own.url)
  chmodSync(beacon, 0o666)
  assert.notEqual(find(), own.url)
  chmodSync(beacon, 0o600)
  chownSync(beacon, 65_534, 65_534)
  assert.notEqual(find(), own.url)
  rmSync(beacon)
  writeFileSync(join(data, 'real.json'), JSON.stringify(own))
  symlinkSync('real.json', beacon)
  assert.notEqual(find(), own.url)
})

test('a wrong --data leaves the directory unchanged', async (t) => {
  const home = openHome(t)
  const site = join(home.dir, 'site')
  mkdirSync(join(site, 'images'), { recursive: true, mode: 0o755 })
  writeFileSync(join(site, 'index.html'), '', { mode: 0o644 })
  for (const path of [site, join(site, 'images')]) chmodSync(path, 0o755)
  const { code, err } = await home.run(['server', '--port', '0', '--data', site])
  assert.equal(code, 78)
  assert.match(err, /✖ \S+site holds \S+ and nothing of Punctual, so it is not made private\n/)
  assert.match(err, /help:  Choose an empty directory with --data/)
  const modes = ['.', 'images', 'index.html'].map((name) => statSync(join(site, name)).mode & 0o777)
  assert.deepEqual(modes, [0o755, 0o755, 0o644])
  assert.deepEqual(readdirSync(site).toSorted(), ['images', 'index.html'])
})

test('a server warns once about a directory it has to trust', { skip: notRoot }, async (t) => {
  const home = openHome(t)
  const ofAlice = join(home.dir, 'alice')
  mkdirSync(ofAlice)
  chownSync(ofAlice, 1_000, 1_000)
  const data = join(ofAlice, 'data')
  const sudo = { SUDO_UID: '1000' }
  const { output, child } = home.start(['server', '--port', '0', '--data', data], sudo)
  await waitFor(() => child.exitCode !== null || output.out.includes('Try:'), { what: 'the start' })
  const warning = /user 1000 can write to \S+alice, and so replace the data of this server/g
  assert.equal(output.err.match(warning)?.length, 1, output.err)
})
