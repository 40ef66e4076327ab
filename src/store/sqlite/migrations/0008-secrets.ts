import type { Migration } from './migrate.ts'

/** Secret values, sealed before they are stored, and the checks that identify their keys. */
export const secrets: Migration = {
  version: 8,
  statements: [
    `CREATE TABLE secret_key (
       id TEXT PRIMARY KEY,
       -- Something known, sealed with the key.
       "check" TEXT NOT NULL
     ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE secret (
       project_id INTEGER NOT NULL,
       name TEXT NOT NULL,
       version INTEGER NOT NULL,
       key_id TEXT NOT NULL,
       sealed TEXT NOT NULL,
       updated_at INTEGER NOT NULL,
       updated_by INTEGER,
       PRIMARY KEY (project_id, name)
     ) STRICT`,
    `CREATE INDEX secret_by_key ON secret (key_id)`,
    // Ids of the keys a node can open, with a space around each.
    `ALTER TABLE node ADD COLUMN secret_keys TEXT NOT NULL DEFAULT ''`,
  ],
}
