import type { Migration } from './migrate.ts'

/**
 * A session belongs to the token that registered it. `secret` is the SHA-256 of the secret its
 * worker sends; sessions of the first version of the worker protocol have none.
 */
export const sessionOwners: Migration = {
  version: 18,
  statements: () => [
    `ALTER TABLE session ADD COLUMN owner text`,
    `ALTER TABLE session ADD COLUMN identity text`,
    `ALTER TABLE session ADD COLUMN secret text`,
  ],
}
