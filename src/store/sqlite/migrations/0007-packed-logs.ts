import type { Migration } from './migrate.ts'

/**
 * Chunks are kept packed, with a filter for searches before them: what stands first in a row is read
 * without the rest of it. What is there already stays as it is.
 */
export const packedLogs: Migration = {
  version: 7,
  statements: [
    `ALTER TABLE log_chunk ADD COLUMN trigrams BLOB`,
    `ALTER TABLE log_chunk ADD COLUMN packed BLOB`,
  ],
}
