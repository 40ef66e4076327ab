import pg from 'pg'
import { postgresUrl } from '../../../test/support/servers.ts'
import { waitFor } from '../../../test/support/wait-for.ts'
import type { OpenStore } from '../contract/world.ts'
import { openPostgresStore, type PostgresOptions } from './store.ts'

let url: Promise<string> | undefined
let schemas = 0

/** One database per test file; each test uses a schema in it, which is created much faster. */
export function fileDatabase(): Promise<string> {
  return (url ??= postgresUrl())
}

export function newSchema(): string {
  schemas += 1
  return `store_${schemas}`
}

/** The test's own connection. It tolerates a server that ends before it. */
export async function connectAdmin(address: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: address })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** A store in a schema of its own; `place` receives its location. */
export function openIn(
  options: Partial<PostgresOptions> & {
    place?: (where: { url: string; schema: string }) => void
  } = {},
): OpenStore {
  return async ({ now }) => {
    const { place, ...given } = options
    const full = { url: await fileDatabase(), schema: newSchema(), now, ...given }
    place?.(full)
    let store = await openPostgresStore(full)
    return {
      store,
      exclusive: false,
      reopen: async () => {
        await store.close()
        store = await openPostgresStore(full)
        return store
      },
      close: () => store.close(),
    }
  }
}

const WAITING = `
  SELECT count(*)::int AS count FROM pg_stat_activity
   WHERE wait_event_type = 'Lock' AND datname = current_database()`

/** Waits until this many statements wait for locks. */
export async function untilLockWait(admin: pg.Client, count: number, what: string): Promise<void> {
  await waitFor(async () => (await admin.query(WAITING)).rows[0].count === count, { what })
}
