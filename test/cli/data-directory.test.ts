import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openHome, type PunctualHome } from '../support/punctual-home.ts'

/** The error of a server for a data directory it cannot use. Each case ends with exit code 78. */
interface Place {
  readonly why: string
  prepare?(home: PunctualHome): void
  flags(home: PunctualHome): string[]
  readonly says: RegExp
}

const file = (home: PunctualHome, name: string) => writeFileSync(join(home.dir, name), 'x')
const data = (home: PunctualHome, path: string) => ['--data', join(home.dir, path)]

const PLACES: readonly Place[] = [
  {
    why: 'in a place where the kernel makes no directories',
    flags: () => ['--data', '/proc/punctual-data'],
    says: /✖ the data directory \/proc\/punctual-data cannot be used: no directory can be made there\n/,
  },
  {
    why: 'deep in such a place',
    flags: () => ['--data', '/proc/a/b/c'],
    says: /✖ the data directory \/proc\/a\/b\/c cannot be used: no directory can be made there\n/,
  },
  {
    why: 'a file',
    prepare: (home) => file(home, 'taken'),
    flags: (home) => data(home, 'taken'),
    says: /✖ the data directory \S+taken cannot be used: a file is in its place/,
  },
  {
    why: 'below a file',
    prepare: (home) => file(home, 'above'),
    flags: (home) => data(home, 'above/data'),
    says: /✖ the data directory \S+above\/data cannot be used: a file is in its place/,
  },
  {
    why: 'a link that leads nowhere',
    prepare: (home) => symlinkSync(join(home.dir, 'nowhere'), join(home.dir, 'link')),
    flags: (home) => data(home, 'link'),
    says: /✖ the data directory \S+link cannot be used: another file is in its place/,
  },
  {
    why: 'a link to itself',
    prepare: (home) => symlinkSync('loop', join(home.dir, 'loop')),
    flags: (home) => data(home, 'loop'),
    says: /cannot be (used: its symbolic links form a loop|read: ELOOP)/,
  },
  {
    why: 'a name no file system takes',
    flags: (home) => data(home, 'x'.repeat(300)),
    says: /cannot be (used: the name is too long|read: ENAMETOOLONG)/,
  },
  {
    why: 'no name at all',
    flags: () => ['--data', ''],
    says: /✖ data is empty; leave it out for \.\/\.punctual\n/,
  },
  {
    why: 'a data directory whose token is a directory',
    prepare: (home) => mkdirSync(join(home.dir, 'odd/admin-token'), { recursive: true }),
    flags: (home) => data(home, 'odd'),
    says: /✖ \S+admin-token cannot be read: EISDIR/,
  },
  {
    why: 'a store where the kernel makes no directories',
    flags: (home) => [...data(home, 'fine'), '--store', 'sqlite:/proc/store/punctual.db'],
    says: /✖ the directory of the store \/proc\/store cannot be used: no directory can be made/,
  },
]

test('a server that cannot use its directory says why and exits with 78', async (t) => {
  const home = openHome(t)
  for (const { why, prepare, flags, says } of PLACES) {
    prepare?.(home)
    const { code, out, err } = await home.run(['up', '--port', '0', ...flags(home)])
    assert.deepEqual([code, out], [78, ''], `${why}: ${err}`)
    assert.match(err, says, why)
    assert.match(err, /\n {2}help: {2}.+\n {2}code: {2}config_invalid\n$/, why)
  }
})

test('on a read-only file system a server says so, even if its data exists', async (t) => {
  const disk = mkdtempSync(join(tmpdir(), 'punctual-read-only-'))
  t.after(() => {
    spawnSync('umount', ['-l', disk])
    rmSync(disk, { recursive: true, force: true })
  })
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk]).status !== 0) {
    t.skip('needs root, to mount a read-only file system')
    return
  }
  mkdirSync(join(disk, 'there'))
  assert.equal(spawnSync('mount', ['-o', 'remount,ro', disk]).status, 0)
  const home = openHome(t)
  for (const name of ['there', 'new', 'deep/new']) {
    const { code, err } = await home.run(['server', '--port', '0', '--data', join(disk, name)])
    assert.equal(code, 78, err)
    assert.match(err, /✖ the data directory \S+ cannot be used: the file system is read-only\n/)
  }
})

test('a backup and an export fail if their directory cannot be created', async (t) => {
  const home = openHome(t)
  await home.up('--slots', '0', '--open')
  file(home, 'above')
  const target = join(home.dir, 'above/backup')
  const backup = await home.run(['db', 'backup', target, '--data', home.dataDir])
  assert.equal(backup.code, 2, backup.err)
  assert.match(backup.err, /✖ \S+above\/backup cannot be made: a file is in its place/)
  const defined = await home.run(['api', 'PUT', '/v1/jobs/one', '-d', '{"run":"true"}'])
  assert.equal(defined.code, 0, defined.err)
  const exported = await home.run(['export', '--to', '/proc/jobs'])
  assert.equal(exported.code, 2, exported.err)
  assert.match(exported.err, /✖ \/proc\/jobs cannot be made: no directory can be made there\n/)
})

test('a server that cannot publish its address for its user still starts', async (t) => {
  const home = openHome(t)
  const env = { XDG_RUNTIME_DIR: '/proc/none', XDG_STATE_HOME: '/proc/none', HOME: '/proc/none' }
  const flags = ['--port', '0', '--data', home.dataDir, '--slots', '0']
  const { child, output, ended } = home.start(['up', ...flags], env)
  await new Promise<void>((resolve) => {
    child.stdout?.on('data', () => output.out.includes('Try:') && resolve())
    void ended.then(() => resolve())
  })
  assert.match(output.out, /Try:/, output.err)
})
