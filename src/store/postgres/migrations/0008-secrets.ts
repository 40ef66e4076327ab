import type { Migration } from './migrate.ts'

/** Secret values, sealed before they are stored, and the checks that identify their keys. */
export const secrets: Migration = {
  version: 8,
  statements: () => [
    `CREATE TABLE secret_key (
       id text PRIMARY KEY,
       -- Something known, sealed with the key.
       "check" text NOT NULL)`,
    `CREATE TABLE secret (
       project_id int,
       name text COLLATE "C",
       version int NOT NULL,
       -- A key cannot be forgotten in the moment in which another node seals something with it.
       key_id text NOT NULL REFERENCES secret_key,
       sealed text NOT NULL,
       updated_at bigint NOT NULL,
       updated_by int,
       PRIMARY KEY (project_id, name))`,
    `CREATE INDEX secret_by_key ON secret (key_id)`,
    `ALTER TABLE node ADD COLUMN secret_keys text[] NOT NULL DEFAULT '{}'`,
  ],
}
