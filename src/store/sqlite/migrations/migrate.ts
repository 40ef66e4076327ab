import type { Database } from 'better-sqlite3'
import { PunctualError } from '../../../core/errors.ts'
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

export interface Migration {
  readonly version: number
  readonly statements: readonly string[]
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

const SET_VERSION = `
  INSERT INTO meta (key, value) VALUES ('schema_version', ?)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value`

/**
 * Brings the schema up to date. A migration and its version number commit together, so a process
 * killed anywhere in here leaves a database at some earlier version, never between two.
 */
export function migrate(
  db: Database,
  options: { migrations?: readonly Migration[]; beforeStatement?: (sql: string) => void } = {},
): void {
  const { migrations = MIGRATIONS, beforeStatement = () => {} } = options
  const stored = schemaVersion(db)
  const newest = migrations.at(-1)?.version ?? 0
  if (stored > newest) {
    throw new PunctualError(
      'schema_too_new',
      `the database has schema ${stored}; this program knows up to ${newest}`,
    )
  }
  for (const migration of migrations) {
    if (migration.version > stored) apply(db, migration, beforeStatement)
  }
}

export function schemaVersion(db: Database): number {
  const hasMeta = db
    .prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'meta'`)
    .get()
  if (hasMeta === undefined) return 0
  const read = db.prepare<[], number>(`SELECT value FROM meta WHERE key = 'schema_version'`)
  return read.pluck().get() ?? 0
}

function apply(db: Database, migration: Migration, beforeStatement: (sql: string) => void): void {
  const step = db.transaction(() => {
    for (const sql of migration.statements) {
      beforeStatement(sql)
      db.exec(sql)
    }
    beforeStatement(SET_VERSION)
    db.prepare(SET_VERSION).run(migration.version)
  })
  step.immediate()
}
