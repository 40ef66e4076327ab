import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { PunctualError } from '../../../core/errors.ts'
import { Connection } from '../connection/connection.ts'
import { migrate, MIGRATIONS, type Migration } from './migrate.ts'
import { hooks } from './0016-hooks.ts'
import { connectAdmin, fileDatabase, newSchema } from '../postgres.fixture.ts'
import { openPostgresStore } from '../store.ts'

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
    onGreeted: ignore,
  })
  try {
    return await work(connection)
  } finally {
    await connection.close()
  }
}

/** Everything a schema consists of, as text: two equal dumps are two equal schemas. */
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

/** A second migration, so that a schema at version 1 is on the way to somewhere. */
const SECOND: Migration = {
  version: 2,
  statements: () => [`CREATE TABLE later (id int)`, `ALTER TABLE later ADD COLUMN name text`],
}
const WITH_SECOND = [...MIGRATIONS, SECOND]

test('a migration killed before any of its statements is whole after the next start', async () => {
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

test('what definitions in force say of hooks is known when hooks have their table', async () => {
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

test('a schema from the future is refused and left alone', async () => {
  const schema = newSchema()
  await (await openPostgresStore({ url, schema })).close()
  await admin.query(`UPDATE ${schema}.meta SET value = '999' WHERE key = 'schema_version'`)
  const before = await dump(schema)
  await assert.rejects(openPostgresStore({ url, schema }), (error: unknown) => {
    return error instanceof PunctualError && error.code === 'schema_too_new'
  })
  assert.deepEqual(await dump(schema), before)
})

test('a schema may be called anything', async () => {
  const schema = `odd "name"; DROP TABLE x; --`
  const store = await openPostgresStore({ url, schema })
  assert.deepEqual((await store.internProjects(['p'])).length, 1)
  await store.close()
})
