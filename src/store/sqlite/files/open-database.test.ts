import assert from 'node:assert/strict'
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { type ErrorCode, PunctualError } from '../../../core/errors.ts'
import { requireVersion } from '../connection/connection.ts'
import { temporaryDirectory } from '../contract/open-file.ts'
import { networkFileSystem } from '../connection/file-system.ts'
import { openDatabase } from './open-database.ts'

const PAGE = 4096

function refusedWith(code: ErrorCode, message: RegExp = /./) {
  return (error: unknown) =>
    error instanceof PunctualError && error.code === code && message.test(error.message)
}

function leftOpen(path: string): unknown {
  const db = new Database(path, { readonly: true })
  const flag = db.prepare(`SELECT value FROM meta WHERE key = 'open'`).pluck().get()
  db.close()
  return flag
}

const VERSIONS: [version: string, fine: boolean][] = [
  ['3.51.2', false],
  ['3.9.99', false],
  ['2.99.99', false],
  ['3.51.3', true],
  ['3.51.10', true],
  ['3.53.0', true],
  ['4.0.0', true],
]
for (const [version, fine] of VERSIONS) {
  test(`SQLite ${version} is ${fine ? 'new enough' : 'refused'}`, () => {
    if (fine) requireVersion(version)
    else assert.throws(() => requireVersion(version), refusedWith('store_unsupported'))
  })
}

const FILE_SYSTEMS: [type: number, name: string | undefined][] = [
  [0x6969, 'NFS'],
  [0xff534d42, 'CIFS'],
  [0xff534d42 | 0, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9p'],
  [0x00c36400, 'Ceph'],
  [0xef53, undefined],
  [0x01021994, undefined],
  [0x9123683e, undefined],
]
for (const [type, name] of FILE_SYSTEMS) {
  test(`file system 0x${(type >>> 0).toString(16)} is ${name ?? 'local'}`, () =>
    assert.equal(networkFileSystem(type), name))
}

test('the settings that durability rests on are in force', (context) => {
  const path = join(temporaryDirectory(context), 'punctual.db')
  const { db, close } = openDatabase({ path })
  assert.equal(db.pragma('journal_mode', { simple: true }), 'wal')
  assert.equal(db.pragma('synchronous', { simple: true }), 2)
  assert.equal(db.pragma('wal_autocheckpoint', { simple: true }), 0)
  close()
  const normal = openDatabase({ path, durability: 'normal' })
  assert.equal(normal.db.pragma('synchronous', { simple: true }), 1)
  normal.close()
})

test('a second opening of the same file is refused, by whatever name', (context) => {
  const directory = temporaryDirectory(context)
  const path = join(directory, 'punctual.db')
  const first = openDatabase({ path })
  symlinkSync(path, join(directory, 'alias.db'))
  assert.throws(() => openDatabase({ path }), refusedWith('store_in_use'))
  assert.throws(
    () => openDatabase({ path: join(directory, 'alias.db') }),
    refusedWith('store_in_use'),
  )
  first.close()
  openDatabase({ path }).close()
})

test('a closed store is marked so, an open one is not', (context) => {
  const path = join(temporaryDirectory(context), 'punctual.db')
  const { close } = openDatabase({ path })
  assert.equal(leftOpen(path), 1)
  close()
  assert.equal(leftOpen(path), 0)
})

test('after an unclean exit damage is found, and the store is not opened', (context) => {
  const path = damagedFile(join(temporaryDirectory(context), 'punctual.db'), { leftOpen: true })
  assert.throws(() => openDatabase({ path }), refusedWith('store_damaged', /damaged/))
  // Every attempt reports it again, and keeps no lock.
  assert.throws(() => openDatabase({ path }), refusedWith('store_damaged', /damaged/))
})

test('a sound file opens after an unclean exit', (context) => {
  const path = join(temporaryDirectory(context), 'punctual.db')
  const { close } = openDatabase({ path })
  close()
  const db = new Database(path)
  db.exec(`UPDATE meta SET value = 1 WHERE key = 'open'`)
  db.close()
  writeFileSync(`${path}-wal`, '')
  openDatabase({ path }).close()
})

test('after an unclean exit a missing write-ahead log is detected, whatever it contained', (context) => {
  const directory = temporaryDirectory(context)
  const path = join(directory, 'punctual.db')
  const { db, close } = openDatabase({ path })
  // As `kill -9` would leave it: copied while open.
  copyFileSync(path, join(directory, 'copy.db'))
  copyFileSync(`${path}-wal`, join(directory, 'copy.db-wal'))
  db.exec(`INSERT INTO project (name) VALUES ('p')`)
  close()
  const copy = join(directory, 'copy.db')
  rmSync(`${copy}-wal`)
  const isRefused = (error: unknown) =>
    refusedWith('store_damaged', /copy\.db-wal is missing/)(error) &&
    (error as PunctualError).hint.includes('touch ')
  assert.throws(() => openDatabase({ path: copy }), isRefused)
  // Opening it created no empty log that would pass for the missing one.
  assert.throws(() => openDatabase({ path: copy }), isRefused)
  writeFileSync(`${copy}-wal`, '')
  openDatabase({ path: copy }).close()
})

test('damage is also found at the start after a clean exit, unless the file is large', (context) => {
  const path = damagedFile(join(temporaryDirectory(context), 'punctual.db'), { leftOpen: false })
  assert.throws(() => openDatabase({ path }), refusedWith('store_damaged', /damaged/))
})

test('a file that is not a database is refused', (context) => {
  const path = join(temporaryDirectory(context), 'punctual.db')
  writeFileSync(path, 'Dear diary, '.repeat(1_000))
  assert.throws(() => openDatabase({ path }), refusedWith('store_damaged', /not a database/))
})

test('a missing directory, and a directory in place of the file, are refused', (context) => {
  const directory = temporaryDirectory(context)
  assert.throws(
    () => openDatabase({ path: join(directory, 'none', 'punctual.db') }),
    refusedWith('store_unavailable'),
  )
  mkdirSync(join(directory, 'folder.db'))
  assert.throws(
    () => openDatabase({ path: join(directory, 'folder.db') }),
    refusedWith('store_unavailable'),
  )
})

/** A database with a page in its middle overwritten. */
function damagedFile(path: string, flag: { leftOpen: boolean }): string {
  const { db, close } = openDatabase({ path })
  const add = db.prepare('INSERT INTO project (name) VALUES (?)')
  db.transaction(() => {
    for (let i = 0; i < 5_000; i += 1) add.run(`a project with a rather long name, number ${i}`)
  })()
  close()
  const raw = new Database(path)
  raw.prepare(`UPDATE meta SET value = ? WHERE key = 'open'`).run(flag.leftOpen ? 1 : 0)
  raw.close()
  if (flag.leftOpen) writeFileSync(`${path}-wal`, '')
  const pages = statSync(path).size / PAGE
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(PAGE, 0xa5), 0, PAGE, Math.floor(pages / 2) * PAGE)
  closeSync(file)
  return path
}
