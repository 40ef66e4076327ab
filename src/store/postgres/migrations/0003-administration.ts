import type { Migration } from './migrate.ts'

/** Configuration by users: definitions, queues, tokens, and the audit log. */
export const administration: Migration = {
  version: 3,
  statements: () => [
    // Version 0: a name that runs used, without a definition.
    `ALTER TABLE job ADD COLUMN version int NOT NULL DEFAULT 0, ADD COLUMN paused_at bigint,
       ADD COLUMN paused_reason text`,
    // Names sort by their bytes, as everywhere else, whatever the database's language.
    `CREATE INDEX job_defined ON job (project_id, name COLLATE "C") WHERE version > 0`,
    // Deleting a definition keeps its versions, and a new definition continues their numbers.
    `CREATE TABLE job_version (
       job_id int,
       version int,
       created_at bigint NOT NULL,
       created_by int,
       definition text NOT NULL,
       PRIMARY KEY (job_id, version))`,

    `CREATE TABLE queue (
       project_id int,
       name text,
       paused boolean NOT NULL,
       default_timeout_ms bigint,
       max_timeout_ms bigint,
       PRIMARY KEY (project_id, name))`,

    `CREATE TABLE token (
       id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
       project_id int,
       name text NOT NULL,
       role text NOT NULL,
       hash text NOT NULL UNIQUE,
       ending text NOT NULL,
       created_at bigint NOT NULL,
       created_by int,
       expires_at bigint,
       revoked_at bigint,
       last_used_at bigint)`,

    `CREATE TABLE audit (
       id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
       at bigint NOT NULL,
       project_id int,
       actor int,
       action text NOT NULL,
       target text NOT NULL,
       detail text,
       request text,
       address text)`,
    `CREATE INDEX audit_by_project ON audit (project_id, id)`,

    // JSON of what the worker offers, for display and search.
    `ALTER TABLE session ADD COLUMN offer text`,
  ],
}
