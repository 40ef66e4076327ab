import type { Migration } from './migrate.ts'

/** Blobs as rows, and the name by which blobs kept elsewhere are known to be this database's. */
export const blobs: Migration = {
  version: 5,
  statements: [
    // Bytes come last: what lies behind a large value is found only by walking through it.
    `CREATE TABLE blob (
       key TEXT PRIMARY KEY,
       written_at INTEGER NOT NULL,
       bytes BLOB NOT NULL
     ) STRICT`,
    `CREATE TABLE identity (
       name TEXT NOT NULL
     ) STRICT`,
    `INSERT INTO identity (name) VALUES (lower(hex(randomblob(16))))`,
  ],
}
