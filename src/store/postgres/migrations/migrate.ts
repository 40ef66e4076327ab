import { PunctualError } from '../../../core/errors.ts'
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
import { lapses } from './0013-expectations.ts'
import { flows } from './0014-workflows.ts'
import { countedGates } from './0015-counted-gates.ts'
import { hooks } from './0016-hooks.ts'
import { followers } from './0017-followers.ts'
import { transact } from '../connection/transaction.ts'

export interface Migration {
  readonly version: number
  /** `nowMs` is the store's clock: history starts in the week of the first migration. */
  readonly statements: (context: { nowMs: number }) => readonly string[]
}

/** In ascending order. A released migration never changes; a correction is a new one. */
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
  lapses,
  flows,
  countedGates,
  hooks,
  followers,
]

export interface MigrateOptions {
  readonly schema: string
  readonly nowMs: number | null
  readonly migrations?: readonly Migration[]
  /** Tests stop the migration here, before the n-th statement. */
  readonly beforeStatement?: (sql: string) => void | Promise<void>
}

/** Two nodes that start together take turns; what decides is the version they find. */
const TAKE_TURNS = `SELECT pg_advisory_xact_lock(hashtext('punctual migrate'), hashtext($1))`
const READ_CLOCK = `SELECT coalesce($1::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now`
const HAS_SCHEMA = `SELECT to_regnamespace($1) IS NOT NULL AS present`
const HAS_META = `SELECT to_regclass($1 || '.meta') IS NOT NULL AS present`
const READ_VERSION = `SELECT value::int AS version FROM meta WHERE key = 'schema_version'`
const ADD_VERSION = `INSERT INTO meta (key, value) VALUES ('schema_version', $1)`
const RAISE_VERSION = `UPDATE meta SET value = $1 WHERE key = 'schema_version' AND value = $2 RETURNING 1`

/**
 * Brings the schema up to date. A migration and its version commit together, and the version is
 * raised only from the one it was written for: killed anywhere, or run by two nodes at once, the
 * schema is at some version and never between two.
 */
export async function migrate(connection: Connection, options: MigrateOptions): Promise<void> {
  const migrations = options.migrations ?? MIGRATIONS
  const newest = migrations.at(-1)?.version ?? 0
  for (;;) {
    const version = await step(connection, migrations, options)
    if (version > newest) {
      throw new PunctualError(
        'schema_too_new',
        `the database has schema ${version}; this program knows up to ${newest}`,
      )
    }
    if (version === newest) return
  }
}

/** Applies the first migration that is missing, if any; returns the version reached. */
async function step(
  connection: Connection,
  migrations: readonly Migration[],
  { schema, nowMs, beforeStatement = () => {} }: MigrateOptions,
): Promise<number> {
  return transact(connection, async (work) => {
    const run = async <Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> => {
      await beforeStatement(text)
      return work.query<Row>({ name: '', text }, values)
    }
    await run(TAKE_TURNS, [schema])
    const from = await versionOf(run, schema)
    const next = migrations.find(({ version }) => version > from)
    if (next === undefined) return from
    const [clock] = await run<{ now: number }>(READ_CLOCK, [nowMs])
    // Asked for by name only when it is missing: a user who may not create schemas can be given one.
    const [known] = await run<{ present: boolean }>(HAS_SCHEMA, [quoteName(schema)])
    if (!known!.present) await run(`CREATE SCHEMA ${quoteName(schema)}`)
    const pending: Promise<unknown>[] = []
    for (const sql of next.statements({ nowMs: clock!.now })) {
      await beforeStatement(sql)
      pending.push(work.query({ name: '', text: sql }))
    }
    await Promise.all(pending)
    await setVersion(run, from, next.version)
    return next.version
  })
}

type Run = <Row>(text: string, values?: readonly unknown[]) => Promise<Row[]>

async function versionOf(run: Run, schema: string): Promise<number> {
  const [meta] = await run<{ present: boolean }>(HAS_META, [quoteName(schema)])
  if (!meta!.present) return 0
  const [row] = await run<{ version: number }>(READ_VERSION)
  return row?.version ?? 0
}

async function setVersion(run: Run, from: number, to: number): Promise<void> {
  if (from === 0) {
    await run(ADD_VERSION, [String(to)])
    return
  }
  const raised = await run(RAISE_VERSION, [String(to), String(from)])
  if (raised.length !== 1) throw new Error(`schema ${from} was migrated by somebody else`)
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
