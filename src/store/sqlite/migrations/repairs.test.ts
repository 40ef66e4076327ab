import assert from 'node:assert/strict'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { migrationDigestOf } from '../../migrations.ts'
import { temporaryDirectory } from '../contract/open-file.ts'
import { migrate, type Migration, MIGRATIONS } from './migrate.ts'
import { EARLIER_VARIANTS, type EarlierVariant } from './earlier-variants.fixture.ts'

/** The newest schema of programs that stored no digests. */
const LAST_WITHOUT_DIGESTS = 17
/** A later migration needs the table that this variant of 0002 does not create. */
const STUCK_AT: Readonly<Record<string, number>> = { ad7023c: 6 }

const fresh = new Database(':memory:')
migrate(fresh)

function schemaOf(db: Database.Database): unknown[] {
  return db.prepare(`SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name`).all()
}

function columnsOf(db: Database.Database): unknown[] {
  return db
    .prepare(
      `SELECT t.name AS "table", c.* FROM sqlite_schema t, pragma_table_xinfo(t.name) c
        WHERE t.type IN ('table', 'view') ORDER BY t.name, c.cid`,
    )
    .all()
}

function digestsOf(db: Database.Database): unknown[] {
  return db.prepare(`SELECT version, digest FROM migration ORDER BY version`).all()
}

/**
 * A database as programs before digests left it, with these variants instead of today's migrations.
 */
function makeEarlier(
  db: Database.Database,
  variants: readonly EarlierVariant[],
  version: number,
): void {
  const earlier = new Map(variants.map(({ migration }) => [migration.version, migration]))
  const migrations: Migration[] = MIGRATIONS.filter((one) => one.version <= version).map(
    (one) => earlier.get(one.version) ?? one,
  )
  migrate(db, { migrations })
  db.exec(`DROP TABLE migration`)
}

function assertAsFresh(db: Database.Database, what: string): void {
  assert.deepEqual(schemaOf(db), schemaOf(fresh), what)
  assert.deepEqual(columnsOf(db), columnsOf(fresh), what)
  assert.deepEqual(digestsOf(db), digestsOf(fresh), what)
}

test('the earlier variants match their commits', () => {
  for (const { commit, digest, migration } of EARLIER_VARIANTS) {
    assert.equal(migrationDigestOf(migration.statements), digest, commit)
  }
})

for (const variant of EARLIER_VARIANTS) {
  const { commit, migration } = variant
  test(`migration ${migration.version} of ${commit} ends like a fresh database, whenever it is opened`, () => {
    const last = STUCK_AT[commit] ?? LAST_WITHOUT_DIGESTS
    for (let version = migration.version; version <= last; version += 1) {
      const db = new Database(':memory:')
      makeEarlier(db, [variant], version)
      migrate(db)
      assertAsFresh(db, `opened at schema ${version}`)
      db.close()
    }
  })
}

test('a repair keeps every row', () => {
  const db = new Database(':memory:')
  makeEarlier(db, variantsOf('72a0e90', 'e872c57', '2392bd2', '86c0eb0'), LAST_WITHOUT_DIGESTS)
  db.exec(`
    INSERT INTO session (id, node, registration, name, seen_at, trouble)
      VALUES (7, 1, 1, 'build-1', 1000, 'no room in /tmp');
    INSERT INTO run (id, status, project_id, job_id, lane_id, rank, pos, minted_by, created_at, session)
      VALUES (9, 1, 1, 1, 1, 0, 0, 1, 1000, 7);
    INSERT INTO delivery (id, webhook_id, state, attempts, since, created_at, next_at, event, body)
      VALUES (3, 1, 0, 0, 1000, 1000, 1000, 'run.failed', '{}')`)
  migrate(db)
  assertAsFresh(db, 'after the repair')
  const read = (sql: string) => db.prepare(sql).raw().get()
  assert.deepEqual(read(`SELECT name, quarantined, heard_at FROM session WHERE id = 7`), [
    'build-1',
    'no room in /tmp',
    null,
  ])
  assert.deepEqual(read(`SELECT session, status FROM run WHERE id = 9`), [7, 1])
  assert.deepEqual(read(`SELECT id FROM delivery WHERE state = 0 AND next_at <= 1000`), [3])
  assert.deepEqual(read(`SELECT worker_id, last_seen FROM workers`), [
    'build-1',
    '1970-01-01T00:00:01.000Z',
  ])
})

test('a process killed during a repair leaves a database that the next process repairs', (context) => {
  const path = join(temporaryDirectory(context), 'punctual.db')
  const db = new Database(path)
  db.pragma('journal_mode = WAL')
  makeEarlier(db, variantsOf('72a0e90', 'e872c57', '2392bd2', '86c0eb0'), LAST_WITHOUT_DIGESTS)
  const images: string[] = []
  migrate(db, {
    beforeStatement: () => {
      const image = `${path}-${images.length}`
      for (const file of ['', '-wal']) copyFileSync(`${path}${file}`, `${image}${file}`)
      images.push(image)
    },
  })
  db.close()
  // 9 statements repair, one creates the table of digests, and each digest is one.
  assert.ok(images.length >= 10 + LAST_WITHOUT_DIGESTS)
  for (const image of images) {
    const left = new Database(image)
    migrate(left)
    assertAsFresh(left, image)
    left.close()
  }
})

function variantsOf(...commits: readonly string[]): EarlierVariant[] {
  return EARLIER_VARIANTS.filter(({ commit }) => commits.includes(commit))
}
