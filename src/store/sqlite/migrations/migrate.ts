import type { Database } from 'better-sqlite3'
import {
  migrationDigestOf,
  type MigrationDigest,
  digestsOf,
  requireKnownVersion,
  requireUnchanged,
  withoutDigest,
} from '../../migrations.ts'
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
import { REPAIRS } from './repairs.ts'
import { sessionOwners } from './0018-session-owners.ts'

export interface Migration {
  readonly version: number
  readonly statements: readonly string[]
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

const SET_VERSION = `
  INSERT INTO meta (key, value) VALUES ('schema_version', ?)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value`

/** Which migrations were applied, by the digest of their statements. */
const CREATE_DIGESTS = `
  CREATE TABLE IF NOT EXISTS migration (version INTEGER PRIMARY KEY, digest TEXT NOT NULL) STRICT`
const ADD_DIGEST = `INSERT INTO migration (version, digest) VALUES (?, ?)`

type BeforeStatement = (sql: string) => void

/**
 * Brings the schema up to date. A migration, its version number and its digest commit together, so
 * a process killed anywhere in here leaves a database at some earlier version, never between two.
 */
export function migrate(
  db: Database,
  options: { migrations?: readonly Migration[]; beforeStatement?: BeforeStatement } = {},
): void {
  const { migrations = MIGRATIONS, beforeStatement = () => {} } = options
  const stored = schemaVersion(db)
  requireKnownVersion(migrations, stored)
  const known = digestsOf(migrations)
  const applied = readDigests(db)
  requireUnchanged(known, applied)
  const missing = withoutDigest(known, applied, stored)
  if (missing.length > 0) repair(db, missing, beforeStatement)
  for (const migration of migrations) {
    if (migration.version > stored) apply(db, migration, beforeStatement)
  }
}

export function schemaVersion(db: Database): number {
  if (!hasTable(db, 'meta')) return 0
  const read = db.prepare<[], number>(`SELECT value FROM meta WHERE key = 'schema_version'`)
  return read.pluck().get() ?? 0
}

function hasTable(db: Database, name: string): boolean {
  const read = db.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`)
  return read.get(name) !== undefined
}

function readDigests(db: Database): MigrationDigest[] {
  if (!hasTable(db, 'migration')) return []
  return db.prepare<[], MigrationDigest>(`SELECT version, digest FROM migration`).all()
}

/** Undoes the edits that were made to shipped migrations, and records the digests. */
function repair(
  db: Database,
  missing: readonly MigrationDigest[],
  beforeStatement: BeforeStatement,
): void {
  const versions = new Set(missing.map(({ version }) => version))
  const step = db.transaction(() => {
    for (const { version, statements } of REPAIRS) {
      if (versions.has(version)) execute(db, statements(db), beforeStatement)
    }
    execute(db, [CREATE_DIGESTS], beforeStatement)
    const add = db.prepare(ADD_DIGEST)
    for (const { version, digest } of missing) {
      beforeStatement(ADD_DIGEST)
      add.run(version, digest)
    }
  })
  step.immediate()
}

function apply(db: Database, migration: Migration, beforeStatement: BeforeStatement): void {
  const step = db.transaction(() => {
    execute(db, [CREATE_DIGESTS, ...migration.statements], beforeStatement)
    beforeStatement(SET_VERSION)
    db.prepare(SET_VERSION).run(migration.version)
    beforeStatement(ADD_DIGEST)
    db.prepare(ADD_DIGEST).run(migration.version, migrationDigestOf(migration.statements))
  })
  step.immediate()
}

function execute(db: Database, statements: readonly string[], before: BeforeStatement): void {
  for (const sql of statements) {
    before(sql)
    db.exec(sql)
  }
}
