import assert from 'node:assert/strict'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { PunctualError } from '../../../core/errors.ts'
import { assertShipped } from '../../contract/migrations/migrations.ts'
import { migrationDigestOf } from '../../migrations.ts'
import { temporaryDirectory } from '../contract/open-file.ts'
import { hooks } from './0016-hooks.ts'
import { SHIPPED } from './digests.fixture.ts'
import { migrate, type Migration, MIGRATIONS, schemaVersion } from './migrate.ts'

/** A second migration, to test a crash between two migrations. */
const NEXT: Migration = {
  version: MIGRATIONS.length + 1,
  statements: [
    `CREATE TABLE flower (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT`,
    `INSERT INTO flower (name) VALUES ('aster')`,
    `ALTER TABLE run ADD COLUMN colour TEXT`,
  ],
}
const TWO = [...MIGRATIONS, NEXT]

function dump(db: Database.Database): unknown[] {
  return db.prepare(`SELECT name, sql FROM sqlite_schema ORDER BY name`).all()
}

function migrated(migrations: readonly Migration[]): unknown[] {
  const db = new Database(':memory:')
  migrate(db, { migrations })
  return dump(db)
}

test('versions are 1, 2, 3 … without a gap', () => {
  assert.deepEqual(
    MIGRATIONS.map(({ version }) => version),
    MIGRATIONS.map((_, i) => i + 1),
  )
})

test('no migration has changed since it was shipped', () => {
  assertShipped(
    MIGRATIONS.map(({ version, statements }) => ({
      version,
      digest: migrationDigestOf(statements),
    })),
    SHIPPED,
  )
})

test('a database records which migrations were applied', () => {
  const db = new Database(':memory:')
  migrate(db)
  const rows = db.prepare(`SELECT version, digest FROM migration ORDER BY version`).raw().all()
  assert.deepEqual(
    rows,
    Object.entries(SHIPPED).map(([version, digest]) => [Number(version), digest]),
  )
})

test('a database with another form of a migration is refused and left unchanged', () => {
  const db = new Database(':memory:')
  const edited = {
    ...NEXT,
    statements: [...NEXT.statements, `CREATE INDEX by_name ON flower (name)`],
  }
  migrate(db, { migrations: TWO })
  const before = dump(db)
  assert.throws(
    () =>
      migrate(db, {
        migrations: [...MIGRATIONS, edited, { version: NEXT.version + 1, statements: [] }],
      }),
    (error) =>
      error instanceof PunctualError &&
      error.code === 'migration_changed' &&
      error.message.includes(`migration ${String(NEXT.version).padStart(4, '0')} of the database`),
  )
  assert.deepEqual(dump(db), before)
  assert.equal(schemaVersion(db), NEXT.version)
})

test('a process killed before any statement leaves a database that opens again', (context) => {
  const images = imagesOfDeaths(join(temporaryDirectory(context), 'punctual.db'))
  const whole = migrated(TWO)
  // Three more than its statements: the table of digests, the version and the digest.
  const versions = TWO.flatMap(({ version, statements }) =>
    new Array<number>(statements.length + 3).fill(version - 1),
  )
  assert.equal(images.length, versions.length)
  for (const [died, image] of images.entries()) {
    const db = new Database(image)
    assert.equal(schemaVersion(db), versions[died])
    migrate(db, { migrations: TWO })
    assert.deepEqual(dump(db), whole)
    assert.equal(schemaVersion(db), NEXT.version)
    db.close()
  }
})

test('hooks of definitions in force are indexed when the hook table is created', () => {
  const db = new Database(':memory:')
  migrate(db, { migrations: MIGRATIONS.filter(({ version }) => version < hooks.version) })
  db.exec(`INSERT INTO project (id, name) VALUES (1, 'default');
           INSERT INTO job (id, project_id, name, version) VALUES (5, 1, 'report', 2), (6, 1, 'x', 1)`)
  const add = db.prepare(
    `INSERT INTO job_version (job_id, version, created_at, definition) VALUES (?, ?, 0, ?)`,
  )
  add.run(5, 1, '{"triggers":[{"webhook":"old"}]}')
  add.run(5, 2, '{"triggers":[{"webhook":"orders"},{"webhook":"orders"}]}')
  add.run(6, 1, '{"run":"echo \\"triggers\\""}')
  migrate(db)
  const rows = db.prepare(`SELECT project_id, name, job_id FROM hook`).raw().all()
  assert.deepEqual(rows, [[1, 'orders', 5]])
})

test('migrating again changes nothing', () => {
  const db = new Database(':memory:')
  migrate(db)
  const before = db.prepare('SELECT total_changes()').pluck().get()
  migrate(db)
  assert.equal(db.prepare('SELECT total_changes()').pluck().get(), before)
})

test('a database of a newer version is refused and left unchanged', () => {
  const db = new Database(':memory:')
  migrate(db, { migrations: TWO })
  assert.throws(
    () => migrate(db),
    (error) => error instanceof PunctualError && error.code === 'schema_too_new',
  )
  assert.equal(schemaVersion(db), NEXT.version)
})

/** Copies of the files as they are before each statement: what a process killed there leaves. */
function imagesOfDeaths(path: string): string[] {
  const images: string[] = []
  const db = new Database(path)
  db.pragma('journal_mode = WAL')
  migrate(db, {
    migrations: TWO,
    beforeStatement: () => {
      const image = `${path}-${images.length}`
      for (const file of ['', '-wal']) copyFileSync(`${path}${file}`, `${image}${file}`)
      images.push(image)
    },
  })
  db.close()
  return images
}
