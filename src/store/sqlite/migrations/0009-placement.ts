import type { Migration } from './migrate.ts'

/** Queues with a rate, and how much of it is used up. */
export const placement: Migration = {
  version: 9,
  statements: [
    `ALTER TABLE queue ADD COLUMN rate_limit INTEGER`,
    `ALTER TABLE queue ADD COLUMN rate_per_ms INTEGER`,
    `ALTER TABLE queue ADD COLUMN rate_burst INTEGER`,
    `ALTER TABLE queue ADD COLUMN rate_level INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE queue ADD COLUMN rate_at INTEGER NOT NULL DEFAULT 0`,
    // Why a worker takes no work, as reported by itself.
    `ALTER TABLE session ADD COLUMN quarantined TEXT`,
  ],
}
