import type { Migration } from './migrate.ts'

/** Blobs as rows, and the name that identifies this database's blobs in other storage. */
export const blobs: Migration = {
  version: 5,
  statements: [
    // Bytes come last: reading a column behind a large value has to skip the value.
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
