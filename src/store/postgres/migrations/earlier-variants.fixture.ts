import type { Migration } from './migrate.ts'
import { firstSchema } from './0001-first-schema.ts'
import { processes } from './0002-processes.ts'
import { webhooks } from './0006-webhooks.ts'
import { placement } from './0009-placement.ts'
import { plainViews } from './0011-plain-views.ts'
import { workflows } from './0014-workflows.ts'

/** A migration as it was in the commit; the digest is that of the commit's text. */
export interface EarlierVariant {
  readonly commit: string
  readonly digest: string
  readonly migration: Migration
}

const MEET_GATE = `CREATE FUNCTION meet_gate() RETURNS boolean LANGUAGE plpgsql AS $$
   BEGIN
     RAISE EXCEPTION 'a gated run ended' USING ERRCODE = 'PU001';
   END $$`

/** Every form in which a migration shipped before it got its present form. */
export const EARLIER_VARIANTS: readonly EarlierVariant[] = [
  {
    commit: 'f1ffb31',
    digest: 'e5691ae1c84a0aaad7ddcdcc32d7b80dc8a9563bab37971813cdf89ad8f4ee37',
    migration: changed(plainAttics(), (all) =>
      all.map((sql) => (sql.includes('fail_hope') ? MEET_GATE : sql)),
    ),
  },
  {
    commit: '8a5271b',
    digest: 'd5504f87fa3231a3a6514f2fd67dcbbd6906c4efb130d0dd70ed2914b66ad4a0',
    migration: plainAttics(),
  },
  {
    commit: 'ad7023c',
    digest: 'd1f667e712a3513f71484356d749866fcc533ebbd683649bfd6307166cffdc1b',
    migration: without(processes, 'log_chunk'),
  },
  {
    commit: 'e872c57',
    digest: '7cc4ea43f0e323167cea0298986ecb67ce8b92e382f6160bde477502ee4f2529',
    migration: without(webhooks, 'delivery_next'),
  },
  {
    commit: '2392bd2',
    digest: '5d2a1e896ea042050815b7232ef2835efd2223477e3444c6e3a6c9266b1fbadb',
    migration: replaced(placement, 'quarantined', 'trouble'),
  },
  {
    commit: '86c0eb0',
    digest: 'bd7efb38407a1984860be1f131884b7e2da60da0e4abda11ac51a6c29f8089c7',
    migration: replaced(
      unheard(),
      'deleted_at IS NULL) AS schedule',
      `deleted_at IS NULL AND schedule.name <> 'first-fire') AS schedule`,
    ),
  },
  {
    commit: '01092e3',
    digest: 'a53f9c83c62328ff5df1e41b4485941f0345ee18062f0198153aed8a3e888dd9',
    migration: unheard(),
  },
  {
    commit: 'b2d4f0c',
    digest: '6368444d9985ede3a372299fa600040dbb3d44622434bcde6984fd925d73c39e',
    migration: without(workflows, 'VIEW job_runs'),
  },
]

function plainAttics(): Migration {
  return replaced(firstSchema, ' INCLUDING STORAGE', '')
}

function unheard(): Migration {
  return without(replaced(plainViews, 'greatest(s.seen_at, s.heard_at)', 's.seen_at'), 'heard_at')
}

function without(migration: Migration, word: string): Migration {
  return changed(migration, (all) => all.filter((sql) => !sql.includes(word)))
}

function replaced(migration: Migration, today: string, earlier: string): Migration {
  return changed(migration, (all) => all.map((sql) => sql.replace(today, earlier)))
}

function changed(
  { version, statements }: Migration,
  change: (statements: readonly string[]) => readonly string[],
): Migration {
  return { version, statements: (context) => change(statements(context)) }
}
