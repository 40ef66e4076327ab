import type { Database } from 'better-sqlite3'
import { statementOf } from '../../migrations.ts'
import { processes } from './0002-processes.ts'
import { webhooks } from './0006-webhooks.ts'
import { plainViews } from './0011-plain-views.ts'

/**
 * Brings the schema of an earlier variant of a migration to what the migration creates today. Only
 * migrations that were edited before digests were stored have a repair; there will be no others.
 * `statements` reads the schema first and is empty when there is nothing to repair.
 */
export interface Repair {
  readonly version: number
  readonly statements: (db: Database) => readonly string[]
}

export const REPAIRS: readonly Repair[] = [
  {
    version: 1,
    statements: (db) =>
      hasObject(db, 'run_lease_session') ? [`DROP INDEX run_lease_session`] : [],
  },
  {
    version: 2,
    statements: (db) =>
      hasObject(db, 'log_chunk')
        ? []
        : [statementOf(processes.statements, 'CREATE TABLE log_chunk')],
  },
  {
    version: 6,
    statements: (db) =>
      hasObject(db, 'delivery_next')
        ? []
        : [statementOf(webhooks.statements, 'CREATE INDEX delivery_next')],
  },
  {
    version: 9,
    statements: (db) =>
      hasColumn(db, 'session', 'trouble')
        ? [`ALTER TABLE session RENAME COLUMN trouble TO quarantined`]
        : [],
  },
  { version: 11, statements: (db) => [...lastHeard(db), ...firstFire(db)] },
]

/** Before 17550e6, sessions did not record when they were last heard from. */
function lastHeard(db: Database): string[] {
  if (hasColumn(db, 'session', 'heard_at')) return []
  return [
    statementOf(plainViews.statements, 'ALTER TABLE session ADD COLUMN heard_at'),
    statementOf(plainViews.statements, 'CREATE INDEX session_by_name'),
    `DROP VIEW workers`,
    statementOf(plainViews.statements, 'CREATE VIEW workers'),
  ]
}

/** Before 01092e3, the view of jobs left out schedules that share a name. */
function firstFire(db: Database): string[] {
  if (!sqlOf(db, 'jobs')?.includes(`'first-fire'`)) return []
  return [`DROP VIEW jobs`, statementOf(plainViews.statements, 'CREATE VIEW jobs')]
}

function hasObject(db: Database, name: string): boolean {
  return sqlOf(db, name) !== undefined
}

function sqlOf(db: Database, name: string): string | undefined {
  const read = db.prepare<[string], string>(`SELECT sql FROM sqlite_schema WHERE name = ?`)
  return read.pluck().get(name)
}

function hasColumn(db: Database, table: string, column: string): boolean {
  const read = db.prepare(`SELECT 1 FROM pragma_table_info(?) WHERE name = ?`)
  return read.get(table, column) !== undefined
}
