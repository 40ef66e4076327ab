import {
  digestsOf,
  requireKnownVersion,
  type MigrationDigest,
  requireUnchanged,
  withoutDigest,
} from '../../migrations.ts'
import type { Connection } from '../connection/connection.ts'
import { firstSchema } from './0001-first-schema.ts'
import { processes } from './0002-processes.ts'
import { administration } from './0003-administration.ts'
import { ownedSessions } from './0004-owned-sessions.ts'
import { blobs } from './0005-blobs.ts'
import { webhooks } from './0006-webhooks.ts'
import { packedLogs } from './0007-packed-logs.ts'
import { secrets } from './0008-secrets.ts'
import { placement } from './0009-placement.ts'
import { schedules } from './0010-schedules.ts'
import { plainViews } from './0011-plain-views.ts'
import { backfills } from './0012-backfills.ts'
import { expectations } from './0013-expectations.ts'
import { workflows } from './0014-workflows.ts'
import { countedGates } from './0015-counted-gates.ts'
import { hooks } from './0016-hooks.ts'
import { followers } from './0017-followers.ts'
import { runTags } from './0019-run-tags.ts'
import { voidOccurrences } from './0020-void-occurrences.ts'
import { REPAIRS, type RunStatement } from './repairs.ts'
import type { Queryable } from '../connection/statement.ts'
import { sessionOwners } from './0018-session-owners.ts'
import { transact } from '../connection/transaction.ts'

export interface Migration {
  readonly version: number
  /** `nowMs` is the store's clock: history starts in the week of the first migration. */
  readonly statements: (context: { nowMs: number }) => readonly string[]
}

/**
 * In ascending order. A shipped migration never changes; a correction is a new one. A new one gets a
 * line in `migrations/digests.fixture.ts`.
 */
export const MIGRATIONS: readonly Migration[] = [
  firstSchema,
  processes,
  administration,
  ownedSessions,
  blobs,
  webhooks,
  packedLogs,
  secrets,
  placement,
  schedules,
  plainViews,
  backfills,
  expectations,
  workflows,
  countedGates,
  hooks,
  followers,
  sessionOwners,
  runTags,
  voidOccurrences,
]

export interface MigrateOptions {
  readonly schema: string
  readonly nowMs: number | null
  readonly migrations?: readonly Migration[]
  /** Tests stop the migration here, before the n-th statement. */
  readonly beforeStatement?: (sql: string) => void | Promise<void>
}

/** Nodes that start together are serialized; the version in the database decides. */
const SERIALIZE_ENDS = `SELECT pg_advisory_xact_lock(hashtext('punctual migrate'), hashtext($1))`
const READ_CLOCK = `SELECT coalesce($1::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now`
const HAS_SCHEMA = `SELECT to_regnamespace($1) IS NOT NULL AS present`
const HAS_TABLE = `SELECT to_regclass($1) IS NOT NULL AS present`
const READ_VERSION = `SELECT value::int AS version FROM meta WHERE key = 'schema_version'`
const ADD_VERSION = `INSERT INTO meta (key, value) VALUES ('schema_version', $1)`
const RAISE_VERSION = `UPDATE meta SET value = $1 WHERE key = 'schema_version' AND value = $2 RETURNING 1`
/** Which migrations were applied, by the digest of their statements. */
const CREATE_DIGESTS = `CREATE TABLE migration (version int PRIMARY KEY, digest text NOT NULL)`
const READ_DIGESTS = `SELECT version, digest FROM migration`
const ADD_DIGESTS = `
  INSERT INTO migration (version, digest) SELECT * FROM unnest($1::int[], $2::text[])`

/**
 * Brings the schema up to date. A migration, its version and its digest commit together, and the
 * version is raised only from the one the migration was written for: killed anywhere, or run by two
 * nodes at once, the schema is at some version and never between two.
 */
export async function migrate(connection: Connection, options: MigrateOptions): Promise<void> {
  while (!(await step(connection, options.migrations ?? MIGRATIONS, options)));
}

/** Applies the first missing migration, if any; returns whether the schema is up to date. */
async function step(
  connection: Connection,
  migrations: readonly Migration[],
  { schema, nowMs, beforeStatement = () => {} }: MigrateOptions,
): Promise<boolean> {
  return transact(connection, async (tx) => {
    const run: RunStatement = async <Row>(
      text: string,
      values: readonly unknown[] = [],
    ): Promise<Row[]> => {
      await beforeStatement(text)
      return tx.query<Row>({ name: '', text }, values)
    }
    await run(SERIALIZE_ENDS, [schema])
    const from = await versionOf(run, schema)
    requireKnownVersion(migrations, from)
    const known = digestsOf(migrations.map(atTimeZero))
    const applied = await digestsIn(run, schema)
    requireUnchanged(known, applied ?? [])
    const missing = withoutDigest(known, applied ?? [], from)
    if (missing.length > 0) {
      await repair(run, missing, applied !== undefined)
      return false
    }
    const next = migrations.find(({ version }) => version > from)
    if (next === undefined) return true
    const [clock] = await run<{ now: number }>(READ_CLOCK, [nowMs])
    // Created only when it is missing: a user without the right to create schemas can be given one.
    const [schemaRow] = await run<{ present: boolean }>(HAS_SCHEMA, [quoteName(schema)])
    if (!schemaRow!.present) await run(`CREATE SCHEMA ${quoteName(schema)}`)
    if (applied === undefined) await run(CREATE_DIGESTS)
    await execute(tx, next.statements({ nowMs: clock!.now }), beforeStatement)
    await setVersion(run, from, next.version)
    await addDigests(run, digestsOf([atTimeZero(next)]))
    return false
  })
}

/** The clock decides only where history starts, and is not part of the digest. */
function atTimeZero({ version, statements }: Migration) {
  return { version, statements: statements({ nowMs: 0 }) }
}

/** Sends the statements one after the other without waiting for each answer. */
async function execute(
  tx: Queryable,
  statements: readonly string[],
  beforeStatement: (sql: string) => void | Promise<void>,
): Promise<void> {
  const pending: Promise<unknown>[] = []
  for (const sql of statements) {
    await beforeStatement(sql)
    pending.push(tx.query({ name: '', text: sql }))
  }
  await Promise.all(pending)
}

/** Undoes the edits that were made to shipped migrations, and records the digests. */
async function repair(
  run: RunStatement,
  missing: readonly MigrationDigest[],
  hasDigests: boolean,
): Promise<void> {
  const versions = new Set(missing.map(({ version }) => version))
  for (const { version, statements } of REPAIRS) {
    if (!versions.has(version)) continue
    for (const sql of await statements(run)) await run(sql)
  }
  if (!hasDigests) await run(CREATE_DIGESTS)
  await addDigests(run, missing)
}

async function addDigests(run: RunStatement, added: readonly MigrationDigest[]): Promise<void> {
  await run(ADD_DIGESTS, [added.map(({ version }) => version), added.map(({ digest }) => digest)])
}

async function hasTable(run: RunStatement, schema: string, name: string): Promise<boolean> {
  const [row] = await run<{ present: boolean }>(HAS_TABLE, [`${quoteName(schema)}.${name}`])
  return row!.present
}

async function versionOf(run: RunStatement, schema: string): Promise<number> {
  if (!(await hasTable(run, schema, 'meta'))) return 0
  const [row] = await run<{ version: number }>(READ_VERSION)
  return row?.version ?? 0
}

async function digestsIn(
  run: RunStatement,
  schema: string,
): Promise<MigrationDigest[] | undefined> {
  if (!(await hasTable(run, schema, 'migration'))) return undefined
  return run<MigrationDigest>(READ_DIGESTS)
}

async function setVersion(run: RunStatement, from: number, to: number): Promise<void> {
  if (from === 0) {
    await run(ADD_VERSION, [String(to)])
    return
  }
  const raised = await run(RAISE_VERSION, [String(to), String(from)])
  if (raised.length !== 1) throw new Error(`schema ${from} was migrated by another node`)
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
