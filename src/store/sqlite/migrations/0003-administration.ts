import type { Migration } from './migrate.ts'

/** Configuration by users: definitions, queues, tokens, and the audit log. */
export const administration: Migration = {
  version: 3,
  statements: [
    // Version 0: a name that runs used, without a definition.
    `ALTER TABLE job ADD COLUMN version INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE job ADD COLUMN paused_at INTEGER`,
    `ALTER TABLE job ADD COLUMN paused_reason TEXT`,
    `CREATE INDEX job_defined ON job (project_id, name) WHERE version > 0`,
    // Deleting a definition keeps its versions, and a new definition continues their numbers.
    `CREATE TABLE job_version (
       job_id INTEGER NOT NULL,
       version INTEGER NOT NULL,
       created_at INTEGER NOT NULL,
       created_by INTEGER,
       definition TEXT NOT NULL,
       PRIMARY KEY (job_id, version)
     ) STRICT`,

    `CREATE TABLE queue (
       project_id INTEGER NOT NULL,
       name TEXT NOT NULL,
       paused INTEGER NOT NULL,
       default_timeout_ms INTEGER,
       max_timeout_ms INTEGER,
       PRIMARY KEY (project_id, name)
     ) STRICT, WITHOUT ROWID`,

    `CREATE TABLE token (
       id INTEGER PRIMARY KEY AUTOINCREMENT,
       project_id INTEGER,
       name TEXT NOT NULL,
       role TEXT NOT NULL,
       hash TEXT NOT NULL UNIQUE,
       ending TEXT NOT NULL,
       created_at INTEGER NOT NULL,
       created_by INTEGER,
       expires_at INTEGER,
       revoked_at INTEGER,
       last_used_at INTEGER
     ) STRICT`,

    `CREATE TABLE audit (
       id INTEGER PRIMARY KEY AUTOINCREMENT,
       at INTEGER NOT NULL,
       project_id INTEGER,
       actor INTEGER,
       action TEXT NOT NULL,
       target TEXT NOT NULL,
       detail TEXT,
       request TEXT,
       address TEXT
     ) STRICT`,
    `CREATE INDEX audit_by_project ON audit (project_id)`,

    // JSON of what the worker offers, for display and search.
    `ALTER TABLE session ADD COLUMN offer TEXT`,
  ],
}
