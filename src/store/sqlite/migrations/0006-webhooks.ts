import type { Migration } from './migrate.ts'

/** Webhooks, their outbox of events, and their deliveries. */
export const webhooks: Migration = {
  version: 6,
  statements: [
    // AUTOINCREMENT: leftovers of a deleted webhook never belong to a later one.
    `CREATE TABLE webhook (
       id INTEGER PRIMARY KEY AUTOINCREMENT,
       project_id INTEGER NOT NULL,
       name TEXT NOT NULL,
       url TEXT NOT NULL,
       events INTEGER NOT NULL,
       enabled INTEGER NOT NULL,
       created_at INTEGER NOT NULL,
       created_by INTEGER,
       updated_at INTEGER NOT NULL,
       previous_until INTEGER,
       failing_since INTEGER,
       disabled_reason TEXT,
       ending TEXT NOT NULL,
       sealed TEXT NOT NULL,
       previous_sealed TEXT,
       jobs TEXT,
       UNIQUE (project_id, name)
     ) STRICT`,

    // The union of events that the enabled webhooks of a project subscribe to. Few rows; every tick
    // reads it.
    `CREATE TABLE outbox_wish (
       project_id INTEGER PRIMARY KEY,
       events INTEGER NOT NULL
     ) STRICT`,
    // Jobs whose last run failed, of projects that subscribe to recoveries.
    `CREATE TABLE failing_job (
       job_id INTEGER PRIMARY KEY,
       project_id INTEGER NOT NULL,
       since INTEGER NOT NULL
     ) STRICT`,
    `CREATE INDEX failing_job_by_project ON failing_job (project_id)`,
    `CREATE TABLE outbox (
       id INTEGER PRIMARY KEY AUTOINCREMENT,
       run_id INTEGER NOT NULL,
       project_id INTEGER NOT NULL,
       job_id INTEGER NOT NULL,
       events INTEGER NOT NULL,
       at INTEGER NOT NULL,
       failing_since INTEGER
     ) STRICT`,

    `CREATE TABLE delivery (
       id INTEGER PRIMARY KEY,
       webhook_id INTEGER NOT NULL,
       state INTEGER NOT NULL,
       attempts INTEGER NOT NULL,
       since INTEGER NOT NULL,
       created_at INTEGER NOT NULL,
       next_at INTEGER,
       claim INTEGER,
       run_id INTEGER,
       last_at INTEGER,
       last_status INTEGER,
       took_ms INTEGER,
       event TEXT NOT NULL,
       last_error TEXT,
       body TEXT NOT NULL
     ) STRICT`,
    `CREATE INDEX delivery_due ON delivery (webhook_id, next_at) WHERE state = 0`,
    `CREATE INDEX delivery_next ON delivery (next_at) WHERE state = 0`,
    `CREATE INDEX delivery_by_webhook ON delivery (webhook_id)`,
  ],
}
