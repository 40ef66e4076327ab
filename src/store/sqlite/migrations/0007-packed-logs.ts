import type { Migration } from './migrate.ts'

/**
 * Chunks are stored packed, after a search filter: the first columns of a row can be read without
 * the rest. Existing chunks stay as they are.
 */
export const packedLogs: Migration = {
  version: 7,
  statements: [
    `ALTER TABLE log_chunk ADD COLUMN trigrams BLOB`,
    `ALTER TABLE log_chunk ADD COLUMN packed BLOB`,
  ],
}
