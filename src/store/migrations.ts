import { createHash } from 'node:crypto'
import { PunctualError } from '../core/errors.ts'

/** A migration as this program defines it, or as the database recorded it. */
export interface MigrationDigest {
  readonly version: number
  readonly digest: string
}

/** Identifies a migration by the exact text of its statements. */
export function migrationDigestOf(statements: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(statements)).digest('hex')
}

/** The migrations with their digests. */
export function digestsOf(
  migrations: readonly { readonly version: number; readonly statements: readonly string[] }[],
): MigrationDigest[] {
  return migrations.map(({ version, statements }) => ({
    version,
    digest: migrationDigestOf(statements),
  }))
}

/** Refuses a database that a newer program has migrated. */
export function requireKnownVersion(
  migrations: readonly { readonly version: number }[],
  stored: number,
): void {
  const newest = migrations.at(-1)?.version ?? 0
  if (stored <= newest) return
  throw new PunctualError(
    'schema_too_new',
    `the database has schema ${stored}; this program knows up to ${newest}`,
  )
}

/**
 * Refuses a database to which another form of a migration was applied: its tables are not the ones
 * this program's statements were written for.
 */
export function requireUnchanged(
  known: readonly MigrationDigest[],
  applied: readonly MigrationDigest[],
): void {
  const digests = new Map(known.map(({ version, digest }) => [version, digest]))
  for (const { version, digest } of applied) {
    const expected = digests.get(version)
    if (expected === undefined || expected === digest) continue
    const name = String(version).padStart(4, '0')
    throw new PunctualError(
      'migration_changed',
      `migration ${name} of the database (digest ${digest.slice(0, 12)}) is not migration ${name} of this program (digest ${expected.slice(0, 12)})`,
    )
  }
}

/**
 * Applied migrations whose digest the database does not hold: programs from before digests applied
 * them, and some of those migrations were edited after they had shipped.
 */
export function withoutDigest(
  known: readonly MigrationDigest[],
  applied: readonly MigrationDigest[],
  schemaVersion: number,
): MigrationDigest[] {
  const recorded = new Set(applied.map(({ version }) => version))
  return known.filter(({ version }) => version <= schemaVersion && !recorded.has(version))
}

/** The statement of a migration that begins with these words, for repairs that apply it later. */
export function statementOf(statements: readonly string[], beginning: string): string {
  const found = statements.find((sql) => sql.trimStart().startsWith(beginning))
  if (found === undefined) throw new Error(`no statement begins with "${beginning}"`)
  return found
}
