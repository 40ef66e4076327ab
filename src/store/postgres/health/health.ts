import { randomBytes } from 'node:crypto'
import type { StoreError } from '../../port.ts'
import type { Database } from '../database/database.ts'
import { read, transact } from '../connection/transaction.ts'

/** Errors the database reported about itself, and health checks. */
export interface PostgresHealth {
  /** Host and name of the database. */
  readonly place: string
  note(error: StoreError): void
  /** Damage does not go away by itself: fails from the first report of it until the next start. */
  requireSound(): void
  ping(db: Database): Promise<void>
  probe(db: Database): Promise<void>
}

const PING = { name: 'ping', text: 'SELECT 1' }
const PROBE = {
  name: 'probe',
  text: `INSERT INTO meta (key, value) VALUES ('probe', $1)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
}
/** Written after a report of a full disk: a few bytes would fit into existing pages. */
const ROOM_BYTES = 262_144

export function createHealth(url: string): PostgresHealth {
  let damage: StoreError | undefined
  let wasFull = false
  const requireSound = () => {
    if (damage) throw damage
  }
  return {
    place: describeUrl(url),
    note(error) {
      if (error.trouble === 'damaged') damage ??= error
      if (error.trouble === 'full') wasFull = true
    },
    requireSound,
    async ping(db) {
      await read(db.duty, PING)
    },
    async probe(db) {
      requireSound()
      const write = (text: string) => transact(db.duty, (tx) => tx.query(PROBE, [text]), 'single')
      if (!wasFull) return void (await write(''))
      // Random, because PostgreSQL compresses large values. Deleted again at once.
      await write(randomBytes(ROOM_BYTES / 2).toString('hex'))
      await write('')
      wasFull = false
    },
  }
}

/** Without user and password. */
function describeUrl(url: string): string {
  if (!URL.canParse(url)) return 'PostgreSQL'
  const { host, pathname } = new URL(url)
  return `PostgreSQL at ${host}${pathname}`
}
