import type { Migration } from './migrate.ts'

/**
 * Chunks are stored packed, with a search filter. The filter stays in its row, because a search
 * reads many of them; packed data does not compress again. Existing chunks stay as they are.
 */
export const packedLogs: Migration = {
  version: 7,
  statements: () => [
    `ALTER TABLE log_chunk ADD COLUMN trigrams bytea, ADD COLUMN packed bytea`,
    `ALTER TABLE log_chunk ALTER COLUMN entries DROP NOT NULL,
       ALTER COLUMN trigrams SET STORAGE PLAIN,
       ALTER COLUMN packed SET STORAGE EXTERNAL`,
  ],
}
