import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { createCheckpoints } from './checkpoint.ts'
import { temporaryDirectory } from '../contract/open-file.ts'

/** A busy timeout that never ends: a checkpoint that waits for a reader would not return. */
const ENDLESS_MS = 24 * 3_600_000

test('an idle database truncates its log, but never waits for a reader', (context) => {
  const path = join(temporaryDirectory(context), 'punctual.db')
  const db = new Database(path, { timeout: ENDLESS_MS })
  db.pragma('journal_mode = WAL')
  db.pragma('wal_autocheckpoint = 0')
  db.exec('CREATE TABLE t (x)')
  const walBytes = () => statSync(`${path}-wal`).size
  const checkpoints = createCheckpoints(db)

  const reader = new Database(path, { readonly: true })
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM t').get()
  checkpoints.whenIdle()
  assert.ok(walBytes() > 0)
  db.exec('INSERT INTO t VALUES (1)')
  checkpoints.whenIdle()
  assert.ok(walBytes() > 0)
  assert.equal(db.pragma('busy_timeout', { simple: true }), ENDLESS_MS)

  reader.exec('COMMIT')
  checkpoints.whenIdle()
  assert.equal(walBytes(), 0)
  reader.close()
  db.close()
})
