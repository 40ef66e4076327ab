import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { PunctualError } from '../../../core/errors.ts'
import { idAtMs } from '../../../core/ids.ts'
import { assertShipped } from '../../contract/migrations/migrations.ts'
import { migrationDigestOf } from '../../migrations.ts'
import { Connection } from '../connection/connection.ts'
import { migrate, MIGRATIONS, type Migration } from './migrate.ts'
import { SHIPPED } from './digests.fixture.ts'
import { hooks } from './0016-hooks.ts'
import { runTags } from './0019-run-tags.ts'
import { connectAdmin, fileDatabase, newSchema } from '../postgres.fixture.ts'
import { openPostgresStore } from '../store.ts'
import { firstIdOfWeek, weekOfId } from '../partitions/weeks.ts'

let url: string
let admin: pg.Client

before(async () => {
  url = await fileDatabase()
  admin = await connectAdmin(url)
})
after(() => admin.end())

async function withConnection<T>(
  schema: string,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const ignore = () => {}
  const connection = await Connection.open({
    url,
    role: 'duty',
    schema,
    onWarn: ignore,
    onConnectionSetUp: ignore,
  })
  try {
    return await work(connection)
  } finally {
    await connection.close()
  }
}

/** The contents of a schema as text: two equal dumps are two equal schemas. */
async function dump(schema: string): Promise<string[]> {
  const { rows } = await admin.query<{ line: string }>(
    `SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable AS line
       FROM information_schema.columns WHERE table_schema = $1
      UNION ALL
     SELECT replace(indexdef, $1 || '.', '') FROM pg_indexes WHERE schemaname = $1
      UNION ALL
     SELECT proname FROM pg_proc WHERE pronamespace = to_regnamespace($1)
      ORDER BY 1`,
    [schema],
  )
  return rows.map(({ line }) => line)
}

async function versionOf(schema: string): Promise<number> {
  const { rows } = await admin.query<{ value: string }>(
    `SELECT value FROM ${schema}.meta WHERE key = 'schema_version'`,
  )
  return Number(rows[0]?.value)
}

/** A second migration, so that a schema at version 1 has a next version. */
const SECOND: Migration = {
  version: 2,
  statements: () => [`CREATE TABLE later (id int)`, `ALTER TABLE later ADD COLUMN name text`],
}
const WITH_SECOND = [MIGRATIONS[0]!, SECOND]

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
      digest: migrationDigestOf(statements({ nowMs: 0 })),
    })),
    SHIPPED,
  )
})

test('a schema records which migrations were applied, wherever its history starts', async () => {
  const schema = newSchema()
  await withConnection(schema, (connection) => migrate(connection, { schema, nowMs: 1.9e12 }))
  const { rows } = await admin.query<{ version: number; digest: string }>(
    `SELECT version, digest FROM ${schema}.migration ORDER BY version`,
  )
  assert.deepEqual(Object.fromEntries(rows.map((row) => [row.version, row.digest])), SHIPPED)
})

test('a schema with another form of a migration is refused and left unchanged', async () => {
  const schema = newSchema()
  const edited: Migration = { version: 2, statements: () => [`CREATE TABLE later (id bigint)`] }
  await withConnection(schema, (connection) =>
    migrate(connection, { schema, nowMs: null, migrations: WITH_SECOND }),
  )
  const before = await dump(schema)
  await assert.rejects(
    withConnection(schema, (connection) =>
      migrate(connection, {
        schema,
        nowMs: null,
        migrations: [MIGRATIONS[0]!, edited, { version: 3, statements: () => [] }],
      }),
    ),
    (error) =>
      error instanceof PunctualError &&
      error.code === 'migration_changed' &&
      error.message.includes('migration 0002 of the database'),
  )
  assert.deepEqual(await dump(schema), before)
  assert.equal(await versionOf(schema), 2)
})

test('a migration killed before any of its statements is complete after the next start', async () => {
  const whole = newSchema()
  let statements = 0
  await withConnection(whole, (connection) =>
    migrate(connection, {
      schema: whole,
      nowMs: null,
      migrations: WITH_SECOND,
      beforeStatement: () => void (statements += 1),
    }),
  )
  const expected = await dump(whole)
  assert.ok(statements > 30)

  for (let kill = 1; kill <= statements; kill += 1) {
    const schema = newSchema()
    await assert.rejects(
      withConnection(schema, (connection) => migrateUntil(connection, schema, kill)),
    )
    await withConnection(schema, (connection) =>
      migrate(connection, { schema, nowMs: null, migrations: WITH_SECOND }),
    )
    assert.deepEqual(await dump(schema), expected, `killed before statement ${kill}`)
    assert.equal(await versionOf(schema), 2)
  }
})

test('hooks of definitions in force are indexed when the hook table is created', async () => {
  const schema = newSchema()
  const before = MIGRATIONS.filter(({ version }) => version < hooks.version)
  await withConnection(schema, (connection) =>
    migrate(connection, { schema, nowMs: null, migrations: before }),
  )
  await admin.query(`SET search_path TO ${schema}`)
  const { rows: jobs } = await admin.query<{ id: number }>(
    `INSERT INTO job (project_id, name, version) VALUES (1, 'report', 2), (1, 'x', 1) RETURNING id`,
  )
  const [report, other] = jobs.map(({ id }) => id)
  for (const row of [
    [report, 1, '{"triggers":[{"webhook":"old"}]}'],
    [report, 2, '{"triggers":[{"webhook":"orders"},{"webhook":"orders"}]}'],
    [other, 1, '{"run":"echo \\"triggers\\""}'],
  ]) {
    await admin.query(
      `INSERT INTO job_version (job_id, version, created_at, definition) VALUES ($1, $2, 0, $3)`,
      row,
    )
  }
  await withConnection(schema, (connection) => migrate(connection, { schema, nowMs: null }))
  const { rows } = await admin.query(`SELECT project_id, name, job_id FROM hook`)
  await admin.query(`RESET search_path`)
  assert.deepEqual(rows, [{ project_id: 1, name: 'orders', job_id: report }])
})

test('runs with ids beyond the day of the upgrade count as older than the tag index', async () => {
  const schema = newSchema()
  const before = MIGRATIONS.filter(({ version }) => version < runTags.version)
  await withConnection(schema, (connection) =>
    migrate(connection, { schema, nowMs: null, migrations: before }),
  )
  const ahead = idAtMs(Date.UTC(2060, 0, 1)) + 7
  const week = weekOfId(ahead)
  await admin.query(`SET search_path TO ${schema}`)
  await admin.query(`CREATE TABLE run_w${week} PARTITION OF run
                       FOR VALUES FROM (${firstIdOfWeek(week)}) TO (${firstIdOfWeek(week + 1)})`)
  await admin.query(
    `INSERT INTO run (id, created_at, project_id, job_id, lane_id, minted_by, rank)
     VALUES ($1, 0, 1, 1, 1, 1, 0)`,
    [ahead],
  )
  await withConnection(schema, (connection) => migrate(connection, { schema, nowMs: null }))
  const { rows } = await admin.query(`SELECT value FROM meta WHERE key = 'tags_indexed_from'`)
  await admin.query(`RESET search_path`)
  assert.deepEqual(rows, [{ value: String(ahead + 1) }])
})

/** The process dies: its session ends in the middle of the transaction. */
async function migrateUntil(connection: Connection, schema: string, kill: number): Promise<void> {
  let statements = 0
  await migrate(connection, {
    schema,
    nowMs: null,
    migrations: WITH_SECOND,
    beforeStatement: async () => {
      statements += 1
      if (statements !== kill) return
      await admin.query(
        `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
          WHERE application_name = 'punctual duty' AND datname = current_database()`,
      )
    },
  })
}

test('nodes that start at the same moment agree on one schema', async () => {
  const schema = newSchema()
  const stores = await Promise.all(
    Array.from({ length: 4 }, () => openPostgresStore({ url, schema })),
  )
  assert.equal(await versionOf(schema), MIGRATIONS.at(-1)?.version)
  const nodes = await Promise.all(
    stores.map((store) => store.join({ name: 'n', ttlMs: 30_000, graceMs: 0 })),
  )
  assert.equal(new Set(nodes.map((node) => node?.slot)).size, stores.length)
  await Promise.all(stores.map((store) => store.close()))
})

test('a migration runs once, and a second start changes nothing', async () => {
  const schema = newSchema()
  await withConnection(schema, (connection) => migrate(connection, { schema, nowMs: null }))
  const before = await dump(schema)
  const applied: string[] = []
  await withConnection(schema, (connection) =>
    migrate(connection, {
      schema,
      nowMs: null,
      beforeStatement: (sql) => void applied.push(sql),
    }),
  )
  assert.ok(!applied.some((sql) => sql.includes('CREATE')))
  assert.deepEqual(await dump(schema), before)
})

test('a schema of a newer version is refused and left unchanged', async () => {
  const schema = newSchema()
  await (await openPostgresStore({ url, schema })).close()
  await admin.query(`UPDATE ${schema}.meta SET value = '999' WHERE key = 'schema_version'`)
  const before = await dump(schema)
  await assert.rejects(openPostgresStore({ url, schema }), (error: unknown) => {
    return error instanceof PunctualError && error.code === 'schema_too_new'
  })
  assert.deepEqual(await dump(schema), before)
})

test('a schema may have any name', async () => {
  const schema = `odd "name"; DROP TABLE x; --`
  const store = await openPostgresStore({ url, schema })
  assert.deepEqual((await store.internProjects(['p'])).length, 1)
  await store.close()
})
