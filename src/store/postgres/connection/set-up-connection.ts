import type { Client } from 'pg'
import { StoreError } from '../../port.ts'

/** The purpose of a connection decides its server settings. */
export type ConnectionRole = 'hot' | 'duty' | 'reading' | 'lists'

export interface ServerFacts {
  readonly version: string
  /** Differs between clusters, even between restores of one that were started separately. */
  readonly systemId: string | null
  /** Grows with every promotion of a standby. */
  readonly timeline: number | null
}

const OLDEST_VERSION = 140_000
const SETTINGS = {
  statement_timeout: '10s',
  lock_timeout: '3s',
  idle_in_transaction_session_timeout: '10s',
  synchronous_commit: 'on',
  jit: 'off',
} as const
/**
 * Planning the claim costs more than running it, so repeated statements keep one generic plan. It
 * is made when the hot tables may be empty, where reading a whole table looks free, and kept while
 * they fill: without sequential scans only the index remains, whatever the statistics say. Bitmap
 * scans are off too: they visit every dead row until a vacuum comes, while an index scan marks the
 * dead rows it met, and hot tables are mostly dead rows. Join methods need no setting; the
 * statements leave no choice.
 */
const PLANNED_ONCE = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
} as const

/**
 * Planning a page over all weeks costs more than reading it. Tables that were never analysed must
 * not make it read a whole week. A page that takes this long means that the database is in trouble.
 */
const FOR_LISTS = { ...PLANNED_ONCE, statement_timeout: '3s' } as const
const BY_ROLE: Readonly<Record<ConnectionRole, object>> = {
  hot: PLANNED_ONCE,
  duty: PLANNED_ONCE,
  reading: {},
  lists: FOR_LISTS,
}

/** Sets up a new connection and makes sure that the server is safe to use. */
export async function setUpConnection(
  client: Client,
  {
    role,
    schema,
    onWarn,
  }: { role: ConnectionRole; schema: string; onWarn: (message: string) => void },
): Promise<ServerFacts> {
  const settings = {
    ...SETTINGS,
    ...BY_ROLE[role],
    application_name: `punctual ${role}`,
    search_path: client.escapeIdentifier(schema),
  }
  await client.query(
    'SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS t (name, value)',
    [Object.keys(settings), Object.values(settings)],
  )
  const { rows } = await client.query<{
    version: string
    number: number
    standby: boolean
    fsync: string
    pages: string
  }>(
    `SELECT current_setting('server_version') AS version,
            current_setting('server_version_num')::int AS number,
            pg_is_in_recovery() AS standby,
            current_setting('fsync') AS fsync,
            current_setting('full_page_writes') AS pages`,
  )
  const { version, number, standby, fsync, pages } = rows[0]!
  if (number < OLDEST_VERSION) {
    throw new StoreError(
      'unavailable',
      `PostgreSQL ${version} is too old; 14 is the oldest that works`,
    )
  }
  if (standby) throw new StoreError('unavailable', 'the server is a standby: it accepts no writes')
  if (fsync !== 'on') onWarn('fsync is off: a power failure will lose or break acknowledged runs')
  if (pages !== 'on') onWarn('full_page_writes is off: a power failure can break the database')
  return { version: `PostgreSQL ${version.split(' ')[0]}`, ...(await identify(client)) }
}

async function identify(client: Client): Promise<Pick<ServerFacts, 'systemId' | 'timeline'>> {
  try {
    const { rows } = await client.query<{ id: string; timeline: number }>(
      `SELECT system_identifier::text AS id, timeline_id AS timeline
         FROM pg_control_system(), pg_control_checkpoint()`,
    )
    return { systemId: rows[0]!.id, timeline: rows[0]!.timeline }
  } catch {
    // Some hosted databases do not permit these functions; then the cluster cannot be identified.
    return { systemId: null, timeline: null }
  }
}
