import type { Migration } from './migrate.ts'

/**
 * Chunks are kept packed, with a filter for searches beside them. The filter stays in its row, because
 * a search reads many of them; what is packed cannot be packed again. What is there already stays as
 * it is.
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
