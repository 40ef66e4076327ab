import type { Migration } from './migrate.ts'

/** Blobs as rows, and the name that identifies this database's blobs in other storage. */
export const blobs: Migration = {
  version: 5,
  statements: () => [
    `CREATE TABLE blob (
       key text COLLATE "C" PRIMARY KEY,
       written_at bigint NOT NULL,
       bytes bytea NOT NULL
     )`,
    // Uncompressed, so that a part can be read without decompressing what precedes it.
    `ALTER TABLE blob ALTER COLUMN bytes SET STORAGE EXTERNAL`,
    `CREATE TABLE identity (name text NOT NULL)`,
    `INSERT INTO identity (name) VALUES (replace(gen_random_uuid()::text, '-', ''))`,
  ],
}
