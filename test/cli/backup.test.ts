import assert from 'node:assert/strict'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openHome } from '../support/punctual-home.ts'
import { mountSmallDisk } from '../support/small-disk.ts'
import { startKillableServer } from '../support/killable-server.ts'
import { waitFor } from '../support/wait-for.ts'

interface Run {
  readonly id: string
  readonly state: string
  readonly input?: unknown
}

interface Manifest {
  readonly runs: number
  readonly blobs: number
  readonly secrets: number
  readonly has_secret_key: boolean
}

function modesUnder(directory: string): Set<string> {
  const found = readdirSync(directory, { recursive: true, withFileTypes: true })
  return new Set(
    found.map((one) => {
      const mode = statSync(join(one.parentPath, one.name)).mode & 0o777
      return `${one.isDirectory() ? 'd' : 'f'}${mode.toString(8)}`
    }),
  )
}

test('a backup under load has every run acknowledged before it, and a server starts on it', async (t) => {
  const home = openHome(t)
  const server = await startKillableServer(home, '--slots', '2')
  const submit = (body: object) => server.call<Run>('POST', '/v1/runs', body)
  const large = 'x'.repeat(100_000)
  const acknowledged: string[] = []
  let isOver = false
  const load = Array.from({ length: 4 }, async () => {
    while (!isOver) acknowledged.push((await submit({ job: 'a', input: large })).id)
  })
  const ended = await submit({ run: 'echo hello' })
  const running = await submit({ run: 'exec sleep 600' })
  const show = (id: string) => server.call<Run>('GET', `/v1/runs/${id}`)
  await waitFor(async () => (await show(ended.id)).state === 'succeeded', { what: 'the end' })
  await waitFor(async () => (await show(running.id)).state === 'running', { what: 'the start' })
  await server.call('PUT', '/v1/secrets/PASSWORD', { value: 'hunter22' })
  await waitFor(() => acknowledged.length > 40, { what: 'some load' })

  const before = [...acknowledged]
  const backup = join(home.dir, 'backup')
  const argv = ['db', 'backup', backup, '--data', home.dataDir]
  const done = await home.run([...argv, '-o', 'json'])
  assert.equal(done.code, 0, done.err)
  const manifest = JSON.parse(done.out) as Manifest
  assert.ok(manifest.runs >= before.length + 2)
  assert.ok(manifest.blobs >= before.length)
  assert.deepEqual([manifest.secrets, manifest.has_secret_key], [1, false])
  assert.match(done.err, /the secret key is not in the backup/)
  assert.deepEqual([...modesUnder(backup)].toSorted(), ['d700', 'f600'])
  assert.deepEqual(readdirSync(backup).toSorted(), ['backup.json', 'blobs', 'punctual.db'])
  const again = await home.run(argv)
  assert.equal(again.code, 2)
  assert.match(again.err, /exists already; a backup never overwrites/)
  isOver = true
  await Promise.all(load)
  await server.kill()

  // The procedure of docs/how-to/back-up.md.
  const restored = { ...home, dataDir: join(home.dir, 'restored') }
  cpSync(backup, restored.dataDir, { recursive: true })
  const withoutKey = await home.run(['server', '--port', '0', '--data', restored.dataDir])
  assert.equal(withoutKey.code, 78)
  assert.match(withoutKey.err, /secret-key holds no key/)
  cpSync(join(home.dataDir, 'secret-key'), join(restored.dataDir, 'secret-key'))
  const copy = await startKillableServer(restored, '--slots', '1')
  const shown = (id: string) => copy.call<Run>('GET', `/v1/runs/${id}`)
  for (const id of before) assert.equal((await shown(id)).input, large)
  assert.equal((await shown(ended.id)).state, 'succeeded')
  assert.equal((await shown(running.id)).state, 'running')
})

test('a backup of a stopped server, with the key; a missing key and PostgreSQL give a hint', async (t) => {
  const home = openHome(t)
  const server = await startKillableServer(home, '--slots', '0')
  const { id } = await server.call<Run>('POST', '/v1/runs', { job: 'a' })
  await server.kill()
  const backup = join(home.dir, 'deep', 'backup')
  const argv = ['db', 'backup', backup, '--data', home.dataDir, '--with-secret-key']
  const done = await home.run(argv)
  assert.equal(done.code, 0, done.err)
  assert.match(done.out, /backup: 1 runs .*; checked\nTo use it: cp -a /)
  assert.match(done.err, /the backup contains the secret key/)
  assert.equal(
    readFileSync(join(backup, 'secret-key'), 'utf8'),
    readFileSync(join(home.dataDir, 'secret-key'), 'utf8'),
  )
  const copy = await startKillableServer({ ...home, dataDir: backup }, '--slots', '0')
  await copy.call('GET', `/v1/runs/${id}`)

  const elsewhere = await home.run(['db', 'backup', join(home.dir, 'b1')])
  assert.equal(elsewhere.code, 6)
  assert.match(
    elsewhere.err,
    /^✖ there is no database at .*\n {2}http:\/\/\S+ {2}.*\/deep\/backup\n/,
  )
  assert.match(
    elsewhere.err,
    / {2}help: {2}Give the server's data directory with --data.* Servers of yours that run here are listed above\./,
  )
  const none = join(home.dir, 'none')
  const missing = await home.run(['db', 'backup', join(home.dir, 'b2'), '--data', none])
  assert.match(missing.err, /there is no database at .*none\/punctual\.db/)
  assert.ok(!existsSync(join(home.dir, 'b2')))
  const postgres = await home.run(['db', 'backup', join(home.dir, 'b3')], {
    PUNCTUAL_STORE: 'postgres://punctual:hunter22@127.0.0.1:1/x',
  })
  assert.equal(postgres.code, 2)
  assert.match(postgres.err, /pg_dump -Fc/)
  assert.ok(!postgres.err.includes('hunter22'))
})

test('a backup leaves out a damaged blob and names it, and refuses a damaged database', async (t) => {
  const home = openHome(t)
  const server = await startKillableServer(home, '--slots', '0')
  await server.call('POST', '/v1/runs', { job: 'a', input: 'x'.repeat(100_000) })
  await server.kill()
  const blobs = join(home.dataDir, 'blobs')
  const files = readdirSync(blobs, { recursive: true, withFileTypes: true })
  const [blob] = files.filter((one) => one.isFile())
  assert.ok(blob)
  writeFileSync(join(blob.parentPath, blob.name), 'something else')
  const first = await home.run(['db', 'backup', join(home.dir, 'b1'), '--data', home.dataDir])
  assert.equal(first.code, 1)
  assert.match(first.err, /skipped a damaged blob: /)

  const broken = join(home.dir, 'broken')
  mkdirSync(broken)
  writeFileSync(join(broken, 'punctual.db'), 'Dear diary, '.repeat(1_000))
  const second = await home.run(['db', 'backup', join(home.dir, 'b2'), '--data', broken])
  assert.equal(second.code, 1)
  assert.deepEqual(
    readdirSync(home.dir).filter((name) => name.startsWith('b2')),
    [],
  )
})

test('an interrupted backup leaves no files behind', async (t) => {
  const home = openHome(t)
  const server = await startKillableServer(home, '--slots', '0')
  for (let nth = 0; nth < 20; nth += 1) {
    await server.call('POST', '/v1/runs', { job: 'a', input: `${nth}${'x'.repeat(1_000_000)}` })
  }
  await server.kill()
  const unfinished = () => readdirSync(home.dir).filter((name) => name.endsWith('.unfinished'))
  const interrupt = async () => {
    const target = join(home.dir, 'backup')
    rmSync(target, { recursive: true, force: true })
    const { child, ended } = home.start(['db', 'backup', target, '--data', home.dataDir])
    const isOver = () => child.exitCode !== null
    const hasBegun = () => unfinished().length > 0 || isOver()
    await waitFor(hasBegun, { what: 'the backup to begin', intervalMs: 1 })
    child.kill('SIGTERM')
    return (await ended) === 143
  }
  // On a fast machine it may be complete before the signal arrives.
  await waitFor(interrupt, { what: 'a backup that was interrupted' })
  assert.deepEqual(unfinished(), [])
  assert.ok(!existsSync(join(home.dir, 'backup')))
})

test('a missing key and a full disk are reported as such', async (t) => {
  const home = openHome(t)
  const server = await startKillableServer(home, '--slots', '0')
  await server.call('POST', '/v1/runs', { job: 'a', input: 'x'.repeat(1_000_000) })
  await server.kill()
  rmSync(join(home.dataDir, 'secret-key'))
  const argv = ['db', 'backup', join(home.dir, 'b1'), '--data', home.dataDir]
  const keyless = await home.run([...argv, '--with-secret-key'])
  assert.equal(keyless.code, 6)
  assert.match(keyless.err, /there is no secret key at .*secret-key/)
  assert.ok(!existsSync(join(home.dir, 'b1')))

  const small = join(home.dir, 'small')
  mkdirSync(small)
  // Space for the database, as the check before the copy counts it, but not for the large input.
  const bytes = statSync(join(home.dataDir, 'punctual.db')).size + 600_000
  const disk = mountSmallDisk(t, small, `${Math.ceil(bytes / 4096) * 4096}`)
  if (!disk) return
  home.atEnd(disk.unmount)
  const full = await home.run(['db', 'backup', join(small, 'b2'), '--data', home.dataDir])
  assert.notEqual(full.code, 0)
  assert.match(
    full.err,
    /the disk is full: .*small has \d+ bytes free|not enough space for the backup/,
  )
  assert.deepEqual(readdirSync(small), [])
})
