import assert from 'node:assert/strict'
import type { MigrationDigest } from '../../migrations.ts'

/**
 * Compares a list of migrations with the digests they were shipped with. The failure message says
 * whether a line is missing or a migration must be restored.
 */
export function assertShipped(
  migrations: readonly MigrationDigest[],
  shipped: Readonly<Record<number, string>>,
): void {
  for (const { version, digest } of migrations) {
    const before = shipped[version]
    assert.ok(
      before !== undefined,
      `migration ${version} is new: add \`${version}: '${digest}',\` to migrations/digests.fixture.ts`,
    )
    assert.equal(
      digest,
      before,
      `migration ${version} was shipped with other statements: put them back and write a new migration`,
    )
  }
  assert.equal(Object.keys(shipped).length, migrations.length, 'a shipped migration is missing')
}
