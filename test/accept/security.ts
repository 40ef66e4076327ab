import type { Check } from './check.ts'
import { jumpOnPostgres, jumpOnSqlite } from './security-clock.ts'
import { listChecks } from './security-lists.ts'
import { restartChecks } from './security-restart.ts'
import { sessionChecks } from './security-sessions.ts'

/** Acceptance checks of security and data safety: known attacks, repeated against real processes. */
export const checks: Check[] = [
  ...sessionChecks,
  ...listChecks,
  ...restartChecks,
  {
    id: 'S3-sqlite',
    title: 'a clock that jumps forward and back, under `punctual up` (needs the package faketime)',
    run: jumpOnSqlite,
  },
  {
    id: 'S3-postgres',
    title: 'a database clock that jumps forward and back, under two nodes (needs faketime)',
    run: jumpOnPostgres,
  },
]
