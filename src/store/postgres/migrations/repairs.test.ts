import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { migrationDigestOf } from '../../migrations.ts'
import { Connection } from '../connection/connection.ts'
import { migrate, type Migration, MIGRATIONS, type MigrateOptions } from './migrate.ts'
import { EARLIER_VARIANTS } from './earlier-variants.fixture.ts'
import { connectAdmin, fileDatabase, newSchema, untilLockWait } from '../postgres.fixture.ts'

/** The newest schema of programs that stored no digests. */
const LAST_WITHOUT_DIGESTS = 17
/** A later migration needs the table that this variant of 0002 does not create. */
const STUCK_AT: Readonly<Record<string, number>> = { ad7023c: 6 }
/** Everything that is repaired in a database of the last schema without digests. */
const ALL_AT_ONCE = ['f1ffb31', 'e872c57', '2392bd2', '86c0eb0', 'b2d4f0c']

let url: string
let admin: pg.Client
let fresh: readonly string[]

before(async () => {
  url = await fileDatabase()
  admin = await connectAdmin(url)
  const schema = newSchema()
  await migrateIn(schema)
  fresh = await describe(schema)
})
after(() => admin.end())

async function migrateIn(schema: string, options: Partial<MigrateOptions> = {}): Promise<void> {
  const connection = await Connection.open({
    url,
    role: 'duty',
    schema,
    onWarn: () => {},
    onConnectionSetUp: () => {},
  })
  try {
    await migrate(connection, { schema, nowMs: null, ...options })
  } finally {
    await connection.close()
  }
}

/** Everything about a schema that a store's statements can see, as text, and its digests. */
async function describe(schema: string): Promise<string[]> {
  await admin.query(`SET search_path TO ${schema}`)
  const { rows } = await admin.query<{ line: string }>(
    `SELECT concat_ws(' ', 'column', c.relname, c.relkind, c.reloptions, row_number() OVER
              (PARTITION BY c.oid ORDER BY a.attnum), a.attname, format_type(a.atttypid, a.atttypmod),
              a.attnotnull, a.attidentity, a.attstorage, a.attcollation,
              pg_get_expr(d.adbin, d.adrelid)) AS line
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT attisdropped
       LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
      WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p', 'v')
      UNION ALL
     SELECT 'index ' || pg_get_indexdef(c.oid) FROM pg_class c
      WHERE relnamespace = $1::regnamespace AND relkind IN ('i', 'I')
      UNION ALL
     SELECT concat('view ', relname, pg_get_viewdef(oid)) FROM pg_class
      WHERE relnamespace = $1::regnamespace AND relkind = 'v'
      UNION ALL
     SELECT concat('constraint ', conname, ' ', conrelid::regclass, pg_get_constraintdef(oid))
       FROM pg_constraint WHERE connamespace = $1::regnamespace
      UNION ALL
     SELECT 'function ' || pg_get_functiondef(oid) FROM pg_proc
      WHERE pronamespace = $1::regnamespace
      UNION ALL
     SELECT concat('partition ', relname, pg_get_expr(relpartbound, oid)) FROM pg_class
      WHERE relnamespace = $1::regnamespace AND relispartition AND relkind = 'r'
      UNION ALL
     SELECT concat('digest ', version, ' ', digest) FROM migration
      ORDER BY 1`,
    [schema],
  )
  await admin.query(`RESET search_path`)
  return rows.map(({ line }) => line.replaceAll(schema, 'schema'))
}

/**
 * A schema as programs before digests left it, with these variants instead of today's migrations.
 */
async function makeEarlier(commits: readonly string[], version: number): Promise<string> {
  const schema = newSchema()
  const variants = EARLIER_VARIANTS.filter(({ commit }) => commits.includes(commit))
  const earlier = new Map(variants.map(({ migration }) => [migration.version, migration]))
  const migrations: Migration[] = MIGRATIONS.filter((one) => one.version <= version).map(
    (one) => earlier.get(one.version) ?? one,
  )
  await migrateIn(schema, { migrations })
  await admin.query(`DROP TABLE ${schema}.migration`)
  return schema
}

test('the earlier variants match their commits', () => {
  for (const { commit, digest, migration } of EARLIER_VARIANTS) {
    assert.equal(migrationDigestOf(migration.statements({ nowMs: 0 })), digest, commit)
  }
})

for (const { commit, migration } of EARLIER_VARIANTS) {
  test(`migration ${migration.version} of ${commit} ends like a fresh schema`, async () => {
    for (const version of [migration.version, STUCK_AT[commit] ?? LAST_WITHOUT_DIGESTS]) {
      const schema = await makeEarlier([commit], version)
      await migrateIn(schema)
      assert.deepEqual(await describe(schema), fresh, `opened at schema ${version}`)
    }
  })
}

test('a repair keeps every row', async () => {
  const schema = await makeEarlier(ALL_AT_ONCE, LAST_WITHOUT_DIGESTS)
  await admin.query(`SET search_path TO ${schema}`)
  await admin.query(`
    INSERT INTO session (id, node, registration, name, seen_at, trouble)
      VALUES (7, 1, 1, 'build-1', 1000, 'no room in /tmp');
    INSERT INTO delivery (id, webhook_id, state, attempts, since, created_at, next_at, event, body)
      VALUES (3, 1, 0, 0, 1000, 1000, 1000, 'run.failed', '{}')`)
  await migrateIn(schema)
  const { rows: sessions } = await admin.query(
    `SELECT name, quarantined, heard_at, last_seen = to_timestamp(1) AS seen
       FROM session JOIN workers ON worker_id = name`,
  )
  const { rows: deliveries } = await admin.query(`SELECT id::int FROM delivery`)
  await admin.query(`RESET search_path`)
  assert.deepEqual(sessions, [
    { name: 'build-1', quarantined: 'no room in /tmp', heard_at: null, seen: true },
  ])
  assert.deepEqual(deliveries, [{ id: 3 }])
  assert.deepEqual(await describe(schema), fresh)
})

test('a node killed during a repair leaves a schema that the next node repairs', async () => {
  let count = 0
  await migrateIn(await makeEarlier(ALL_AT_ONCE, LAST_WITHOUT_DIGESTS), {
    beforeStatement: () => void (count += 1),
  })
  assert.ok(count > 20)
  const schema = await makeEarlier(ALL_AT_ONCE, LAST_WITHOUT_DIGESTS)
  // The repair is one transaction, so every crash leaves the schema unchanged for the next node.
  for (let kill = 2; kill <= count; kill += 1) {
    let statements = 0
    const killed = migrateIn(schema, {
      beforeStatement: async () => {
        statements += 1
        if (statements === kill) await killMigrating()
      },
    })
    if (
      !(await killed.then(
        () => false,
        () => true,
      ))
    )
      break
  }
  await migrateIn(schema)
  assert.deepEqual(await describe(schema), fresh)
})

async function killMigrating(): Promise<void> {
  await admin.query(
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE application_name = 'punctual duty' AND datname = current_database()`,
  )
}

test('nodes that start together repair a schema once', async () => {
  const schema = await makeEarlier(ALL_AT_ONCE, LAST_WITHOUT_DIGESTS)
  // All are held at the lock, and released at once.
  const lock = await connectAdmin(url)
  await lock.query(`SELECT pg_advisory_lock(hashtext('punctual migrate'), hashtext($1))`, [schema])
  const applied: string[] = []
  const nodes = Array.from({ length: 3 }, () =>
    migrateIn(schema, { beforeStatement: (sql) => void applied.push(sql) }),
  )
  await untilLockWait(admin, nodes.length, 'nodes at the lock')
  await lock.end()
  await Promise.all(nodes)
  assert.equal(applied.filter((sql) => sql.includes('RENAME COLUMN trouble')).length, 1)
  assert.deepEqual(await describe(schema), fresh)
})
