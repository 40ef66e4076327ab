import type { Migration } from './migrate.ts'

/** A session belongs to the project it was registered in: no other project may take it over. */
export const ownedSessions: Migration = {
  version: 4,
  statements: [`ALTER TABLE session ADD COLUMN project TEXT`],
}
