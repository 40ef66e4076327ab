import type { Migration } from './migrate.ts'
import { firstSchema } from './0001-first-schema.ts'
import { processes } from './0002-processes.ts'
import { webhooks } from './0006-webhooks.ts'
import { placement } from './0009-placement.ts'
import { plainViews } from './0011-plain-views.ts'

/** A migration as it was in the commit; the digest is that of the commit's text. */
export interface EarlierVariant {
  readonly commit: string
  readonly digest: string
  readonly migration: Migration
}

const LAST_HEARD = 'max(s.seen_at, coalesce(s.heard_at, 0))'

/** Every form in which a migration shipped before it got its present form. */
export const EARLIER_VARIANTS: readonly EarlierVariant[] = [
  {
    commit: '72a0e90',
    digest: '192fa2b3797e1790093e044a271bce2452a0df47f8326713fbc7c4482a218eab',
    migration: {
      version: 1,
      statements: firstSchema.statements.flatMap((sql) =>
        sql.startsWith('CREATE INDEX run_lease ')
          ? [sql, `CREATE INDEX run_lease_session ON run (session) WHERE status = 1`]
          : [sql],
      ),
    },
  },
  {
    commit: 'ad7023c',
    digest: '5eac055d49eb31b51252385b3f2f1a7d74e47115950b08ba0c46496e3ed21943',
    migration: without(processes, 'log_chunk'),
  },
  {
    commit: 'e872c57',
    digest: 'ec6968e12bb8f60dcb6f5f0dd10efd8b321da12594b7ff88c829fb4e6aeb3a72',
    migration: without(webhooks, 'delivery_next'),
  },
  {
    commit: '2392bd2',
    digest: '0c1df76bd21a6efe3a20b0e19b72bb7468445384e66ea8146caee59389ade8ef',
    migration: replaced(placement, 'quarantined', 'trouble'),
  },
  {
    commit: '86c0eb0',
    digest: '7887d1ed608dfc056ae310cf8f566d2f2fe50b8147ba8965b49f60eb900128e2',
    migration: replaced(
      unheard(),
      'deleted_at IS NULL) AS schedule',
      `deleted_at IS NULL AND name <> 'first-fire') AS schedule`,
    ),
  },
  {
    commit: '01092e3',
    digest: '94d83ee5666727114dbbba3c1462e3f73b4d7475e27ab8c55ba1d64d8c7649fa',
    migration: unheard(),
  },
]

function unheard(): Migration {
  return without(
    without(replaced(plainViews, LAST_HEARD, 's.seen_at'), 'heard_at'),
    'session_by_name',
  )
}

function without({ version, statements }: Migration, word: string): Migration {
  return { version, statements: statements.filter((sql) => !sql.includes(word)) }
}

function replaced({ version, statements }: Migration, today: string, earlier: string): Migration {
  return { version, statements: statements.map((sql) => sql.replace(today, earlier)) }
}
