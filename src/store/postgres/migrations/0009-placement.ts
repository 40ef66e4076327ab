import type { Migration } from './migrate.ts'

/** Queues with a rate, and how much of it is used up; the session a retried run should avoid. */
export const placement: Migration = {
  version: 9,
  statements: () => [
    `ALTER TABLE queue ADD COLUMN rate_limit int, ADD COLUMN rate_per_ms bigint,
       ADD COLUMN rate_burst int, ADD COLUMN rate_level bigint NOT NULL DEFAULT 0,
       ADD COLUMN rate_at bigint NOT NULL DEFAULT 0`,
    // The session that failed or lost the previous attempt.
    `ALTER TABLE ready ADD COLUMN avoid bigint`,
    `ALTER TABLE timer ADD COLUMN avoid bigint`,
    `ALTER TABLE blocked ADD COLUMN avoid bigint`,
    // Why a worker takes no work, as reported by itself.
    `ALTER TABLE session ADD COLUMN quarantined text`,
  ],
}
