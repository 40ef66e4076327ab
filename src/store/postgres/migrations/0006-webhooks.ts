import type { Migration } from './migrate.ts'

/** Webhooks, their outbox of events, and their deliveries. */
export const webhooks: Migration = {
  version: 6,
  statements: () => [
    `CREATE TABLE webhook (
       id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
       project_id int NOT NULL,
       events smallint NOT NULL,
       enabled boolean NOT NULL,
       created_at bigint NOT NULL,
       updated_at bigint NOT NULL,
       created_by int,
       previous_until bigint,
       failing_since bigint,
       name text NOT NULL,
       url text NOT NULL,
       disabled_reason text,
       ending text NOT NULL,
       sealed text NOT NULL,
       previous_sealed text,
       jobs text,
       UNIQUE (project_id, name))`,

    // The union of events that the enabled webhooks of a project subscribe to. Few rows; every tick
    // reads it.
    `CREATE TABLE outbox_wish (project_id int PRIMARY KEY, events smallint NOT NULL)`,
    // Jobs whose last run failed, of projects that subscribe to recoveries.
    `CREATE TABLE failing_job (
       job_id int PRIMARY KEY,
       project_id int NOT NULL,
       since bigint NOT NULL)`,
    `CREATE INDEX failing_job_by_project ON failing_job (project_id)`,
    `CREATE TABLE outbox (
       id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
       run_id bigint NOT NULL,
       at bigint NOT NULL,
       failing_since bigint,
       project_id int NOT NULL,
       job_id int NOT NULL,
       events smallint NOT NULL)`,

    `CREATE TABLE delivery (
       id bigint PRIMARY KEY,
       since bigint NOT NULL,
       created_at bigint NOT NULL,
       next_at bigint,
       claim bigint,
       run_id bigint,
       last_at bigint,
       webhook_id int NOT NULL,
       attempts int NOT NULL,
       took_ms int,
       state smallint NOT NULL,
       last_status smallint,
       event text NOT NULL,
       last_error text,
       body text NOT NULL)`,
    `CREATE INDEX delivery_due ON delivery (webhook_id, next_at) WHERE state = 0`,
    `CREATE INDEX delivery_next ON delivery (next_at) WHERE state = 0`,
    `CREATE INDEX delivery_by_webhook ON delivery (webhook_id, id)`,
  ],
}
