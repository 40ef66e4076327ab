import assert from 'node:assert/strict'
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { EMPTY_BATCH } from '../../contract/fixture.ts'
import type { StoreError } from '../../port.ts'
import { temporaryDirectory } from '../contract/open-file.ts'
import { newRun } from '../contract/rows.ts'
import { requireSound } from './clean-exit.ts'
import { inspectDatabase, type Position } from './inspect-database.ts'
import { openDatabase } from './open-database.ts'
import { openSqliteStore } from '../store.ts'

const batchOf = (id: number) => ({ ...EMPTY_BATCH, node: 1, submits: [newRun(id)] })

async function open(context: TestContext, path = join(temporaryDirectory(context), 'punctual.db')) {
  const fatal: StoreError[] = []
  const store = await openSqliteStore({ path, durability: 'normal', onFatal: (e) => fatal.push(e) })
  await store.tick(batchOf(1))
  return { path, store, fatal }
}

/** Nothing is written or read, and the reason is reported once to the owner of the store. */
async function assertStopped(
  { store, fatal }: Awaited<ReturnType<typeof open>>,
  trouble: StoreError['trouble'],
) {
  for (const ask of [() => store.tick(batchOf(9)), () => store.liveCounts(), () => store.probe()]) {
    await assert.rejects(ask, { trouble })
  }
  assert.deepEqual(
    fatal.map((error) => error.trouble),
    [trouble],
  )
}

const runsIn = (path: string) => {
  const db = new Database(path, { readonly: true })
  const ids = db.prepare<[], number>('SELECT id FROM run ORDER BY id').pluck().all()
  db.close()
  return ids
}

test('a write after the database was deleted is not acknowledged', async (context) => {
  const opened = await open(context)
  rmSync(opened.path)
  await assert.rejects(opened.store.tick(batchOf(2)), {
    outcome: 'unknown',
    trouble: 'replaced',
    message: /punctual\.db was deleted while in use; process \d+ still has it open/,
  })
  await assertStopped(opened, 'replaced')
  await opened.store.close()
})

test('a write after the database was replaced is not acknowledged, and the other file is unchanged', async (context) => {
  const opened = await open(context)
  const other = `${opened.path}.other`
  copyFileSync(opened.path, other)
  const before = statSync(other)
  renameSync(other, opened.path)
  await assert.rejects(opened.store.tick(batchOf(2)), {
    message: /punctual\.db was replaced by another file while in use/,
  })
  await assertStopped(opened, 'replaced')
  await opened.store.close()
  const after = statSync(opened.path)
  assert.deepEqual(
    [after.ino, after.size, after.mtimeMs],
    [before.ino, before.size, before.mtimeMs],
  )
})

test('a write to a database that became unreachable is not reported as refused', async (context) => {
  const folder = join(temporaryDirectory(context), 'data')
  mkdirSync(folder)
  const opened = await open(context, join(folder, 'punctual.db'))
  renameSync(folder, `${folder}.moved`)
  symlinkSync(folder, folder)
  await assert.rejects(opened.store.tick(batchOf(2)), {
    outcome: 'unknown',
    trouble: 'replaced',
    message: /punctual\.db can no longer be reached \(ELOOP/,
  })
  await assertStopped(opened, 'replaced')
  await opened.store.close()
})

test('a write after the write-ahead log was deleted is not acknowledged, and earlier writes are not lost', async (context) => {
  const opened = await open(context)
  rmSync(`${opened.path}-wal`)
  await assert.rejects(opened.store.tick(batchOf(2)), {
    message: /-wal was deleted while in use; what it held was moved into the database/,
  })
  await assertStopped(opened, 'replaced')
  copyFileSync(opened.path, `${opened.path}.copy`)
  const copy = openDatabase({ path: `${opened.path}.copy` })
  copy.close()
  assert.deepEqual(runsIn(`${opened.path}.copy`), [1, 2])
  await opened.store.close()
})

/** Overwrites the page in the middle of the file, as a failing disk would. */
function damage(path: string): void {
  const middle = Math.floor(statSync(path).size / 4096 / 2) * 4096
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(4096, 0xa5), 0, 4096, middle)
  closeSync(file)
}

function fill(path: string): void {
  const db = new Database(path)
  const add = db.prepare('INSERT INTO project (name) VALUES (?)')
  db.transaction(() => {
    for (let i = 0; i < 5_000; i += 1) add.run(`a project with a rather long name, number ${i}`)
  })()
  db.pragma('wal_checkpoint(PASSIVE)')
  db.close()
}

test('an inspection finds damaged pages of a database in use, and the store stops', async (context) => {
  const opened = await open(context)
  await opened.store.inspect()
  fill(opened.path)
  damage(opened.path)
  await assert.rejects(opened.store.inspect(), { trouble: 'damaged' })
  await assertStopped(opened, 'damaged')
  await opened.store.close()
})

/** The table in which each part of an inspection ended, in parts of a hundred rows. */
function walk(path: string): string[] {
  const db = new Database(path, { readonly: true })
  const tables: string[] = []
  try {
    for (let from: Position | null = null, isFirst = true; isFirst || from; isFirst = false) {
      const clock = { ms: 0 }
      const mono = () => (clock.ms += 1)
      const done = inspectDatabase(db, from, { wholeBytes: 0, budgetMs: 100, mono })
      assert.equal(done.finding, null)
      from = done.next
      if (from) tables.push(from.table)
    }
    return tables
  } finally {
    db.close()
  }
}

test('a large database is inspected in parts, and damage is found on the way', (context) => {
  const path = join(temporaryDirectory(context), 'punctual.db')
  openDatabase({ path }).close()
  fill(path)
  assert.ok(walk(path).length >= 50)
  damage(path)
  assert.throws(() => walk(path), { code: /^SQLITE_CORRUPT/ })
})

test('after a crash a large database is inspected for a bounded time before it is opened', (context) => {
  const path = join(temporaryDirectory(context), 'punctual.db')
  openDatabase({ path }).close()
  fill(path)
  const look = (budgetMs: number) => {
    const db = new Database(path, { readonly: true })
    const clock = { ms: 0 }
    try {
      requireSound(db, { wholeBytes: 0, budgetMs, mono: () => (clock.ms += 1) })
    } finally {
      db.close()
    }
  }
  damage(path)
  look(10)
  assert.throws(() => look(100_000), { code: /^SQLITE_CORRUPT/ })
})

test('a table stored in order of its key is inspected to its end', (context) => {
  const path = join(temporaryDirectory(context), 'punctual.db')
  openDatabase({ path }).close()
  const db = new Database(path)
  const add = db.prepare(
    `INSERT INTO run_tag (project_id, name, value, run_id) VALUES (1, ?, ?, ?)`,
  )
  for (let nth = 0; nth < 1_000; nth += 1) add.run('team', `t${nth % 7}`, nth)
  db.close()
  assert.ok(walk(path).filter((table) => table === 'run_tag').length >= 9)
})
