import type { Lease, NodeStore, StoredSession, SessionBinding, SessionRecord } from '../../port.ts'
import { bigints } from '../connection/binary-arrays.ts'
import { type Database, pickLists } from '../database/database.ts'
import { LEASE_COLUMNS, WITH_SPEC } from '../leases/lease-row.ts'
import { CLOCK } from '../connection/statement.ts'
import { read, transact } from '../connection/transaction.ts'

type Input<Name extends keyof NodeStore> = Parameters<NodeStore[Name]>[0]

const OPEN = {
  name: 'open-session',
  text: `
  WITH ${CLOCK}
  INSERT INTO session (id, registration, node, name, project, offer, owner, identity, secret, seen_at)
  SELECT $2::bigint, $3::bigint, $4::int, $5, $6, $7, $8, $9, $10, now FROM clock
      ON CONFLICT (id) DO NOTHING
  RETURNING id`,
}
/**
 * Sessions registered before sessions had owners: claimed by the project, only if they serve no
 * other.
 */
const isOwnedByProject = (isEverywhere: string) => `
  s.secret IS NULL AND
  (${isEverywhere} OR s.offer::jsonb -> 'projects' = jsonb_build_array(s.project))`
const REGISTER = {
  name: 'register',
  text: `
  WITH ${CLOCK}
  UPDATE session s
     SET registration = $3::bigint, node = $4::int, name = $5, offer = $7, owner = $8,
         identity = $9, seen_at = now, quarantined = NULL
    FROM clock
   WHERE s.id = $2::bigint AND s.registration < $3::bigint AND s.project = $6 AND CASE
         WHEN s.owner IS NULL THEN ${isOwnedByProject('$11::boolean')}
         WHEN s.secret IS NULL THEN s.owner = $8
         ELSE s.secret = $10 AND s.identity = $9 END
  RETURNING s.secret`,
}
const IS_OWN = {
  name: 'own-session',
  text: `
  SELECT s.id FROM session s
   WHERE s.id = $1::bigint AND s.project = $2 AND CASE
         WHEN s.owner IS NULL THEN ${isOwnedByProject('$6::boolean')}
         WHEN s.secret IS NULL THEN s.owner = $3
         ELSE s.secret = $5 AND s.identity = $4 END`,
}
const ADOPT = {
  name: 'adopt',
  text: `
  WITH held AS MATERIALIZED (
    SELECT l.run_id
      FROM unnest($1::bigint[], $2::bigint[]) AS item (run_id, fence)
     CROSS JOIN LATERAL (
       SELECT run_id FROM lease
        WHERE lease.run_id = item.run_id AND lease.fence = item.fence AND lease.session = $3::bigint
          FOR UPDATE) l)
  UPDATE lease SET node = $4::int WHERE run_id = ANY (ARRAY(SELECT run_id FROM held))
  RETURNING run_id AS "runId"`,
}
const SESSION_LEASES = {
  name: 'session-leases',
  text: `
  SELECT ${LEASE_COLUMNS}
    FROM (SELECT * FROM lease WHERE session = $1::bigint) l ${WITH_SPEC}
   ORDER BY l.run_id`,
}
const LOAD_SESSION = {
  name: 'load-session',
  text: `
  SELECT s.registration, s.project, l.run_id AS "runId", l.fence,
         l.started_at AS "startedAt"
    FROM session s LEFT JOIN lease l ON l.session = s.id
   WHERE s.id = $1::bigint ORDER BY l.run_id`,
}
const FORGET = {
  name: 'forget-session',
  text: `DELETE FROM session WHERE id = $1::bigint AND registration = $2::bigint`,
}

const MARK_LOST = {
  name: 'mark-session-lost',
  text: `UPDATE session SET offer = NULL WHERE id = $1::bigint AND registration = $2::bigint`,
}
const QUARANTINE = {
  name: 'quarantine-session',
  text: `
  UPDATE session SET quarantined = $3 WHERE id = $1::bigint AND registration = $2::bigint`,
}
const TOUCH = {
  name: 'touch-sessions',
  text: `
  UPDATE session SET heard_at = greatest(heard_at, item.at)
    FROM unnest($1::bigint[], $2::bigint[]) AS item (session, at)
   WHERE session.id = item.session`,
}
const COUNT_NODES = {
  name: 'count-nodes',
  text: `SELECT count(*) AS alive FROM node WHERE alive`,
}
const LIST_SESSIONS = {
  name: 'list-sessions',
  text: `
  SELECT s.id, s.name, s.offer, s.seen_at AS since, s.node, n.name AS "nodeName",
         coalesce(busy.running, 0)::int AS running, coalesce(busy.used, 0)::int AS used, s.quarantined
    FROM session s JOIN node n ON n.id = s.node AND n.alive AND s.offer IS NOT NULL
    LEFT JOIN (SELECT session, count(*) AS running, sum(weight) AS used
                 FROM lease JOIN lane ON lane.id = lane_id GROUP BY session) busy
      ON busy.session = s.id
   ORDER BY s.name COLLATE "C", s.id`,
}

export async function markSessionLost(
  db: Database,
  { session, registration }: Input<'markSessionLost'>,
): Promise<void> {
  await transact(db.duty, (tx) => tx.query(MARK_LOST, [session, registration]), 'single')
}

export async function quarantineSession(
  db: Database,
  { session, registration, reason }: Input<'quarantineSession'>,
): Promise<void> {
  const values = [session, registration, reason]
  await transact(db.duty, (tx) => tx.query(QUARANTINE, values), 'single')
}

export async function touchSessions(db: Database, lastSeen: Input<'touchSessions'>): Promise<void> {
  if (lastSeen.length === 0) return
  // In a fixed order: two nodes must not wait for each other.
  const sorted = lastSeen.toSorted((a, b) => a.session - b.session)
  const values = [
    bigints(sorted.map(({ session }) => session)),
    bigints(sorted.map(({ at }) => at)),
  ]
  await transact(db.duty, (tx) => tx.query(TOUCH, values), 'single')
}

export async function countNodes(db: Database): Promise<number> {
  const [row] = await read<{ alive: number }>(db.reading, COUNT_NODES)
  return row?.alive ?? 0
}

type StoredSessionRow = Omit<StoredSession, 'held'> &
  (StoredSession['held'][number] | { readonly [Part in keyof StoredSession['held'][number]]: null })

export async function loadSession(
  db: Database,
  { session }: Input<'loadSession'>,
): Promise<StoredSession | null> {
  const rows = await read<StoredSessionRow>(db.duty, LOAD_SESSION, [session])
  const [known] = rows
  if (!known) return null
  const held = rows.flatMap(({ runId, fence, startedAt }) =>
    runId === null ? [] : [{ runId, fence, startedAt }],
  )
  return { registration: known.registration, project: known.project, held }
}

export async function listSessions(db: Database): Promise<SessionRecord[]> {
  return read<SessionRecord>(pickLists(db), LIST_SESSIONS)
}

function valuesOf(db: Database, binding: SessionBinding): unknown[] {
  const { session, registration, node, name, project, offer, owner, identity, secret } = binding
  return [db.now(), session, registration, node, name, project, offer, owner, identity, secret]
}

export async function openSession(db: Database, binding: Input<'openSession'>): Promise<boolean> {
  const values = valuesOf(db, binding)
  const opened = await transact(db.duty, (tx) => tx.query(OPEN, values), 'single')
  return opened.length === 1
}

export async function adopt(
  db: Database,
  { held, isEverywhere, ...binding }: Input<'adopt'>,
): ReturnType<NodeStore['adopt']> {
  const { node, session, project, owner, identity, secret } = binding
  const sorted = held.toSorted((a, b) => a.runId - b.runId)
  return transact(db.duty, async (tx) => {
    const [bound] = await tx.query<{ secret: string | null }>(REGISTER, [
      ...valuesOf(db, binding),
      isEverywhere,
    ])
    if (!bound) {
      const own = await tx.query(IS_OWN, [session, project, owner, identity, secret, isEverywhere])
      return own.length === 1 ? 'superseded' : 'unknown'
    }
    const [moved, leases] = await Promise.all([
      tx.query<{ runId: number }>(ADOPT, [
        bigints(sorted.map(({ runId }) => runId)),
        bigints(sorted.map(({ fence }) => fence)),
        session,
        node,
      ]),
      tx.query<Lease>(SESSION_LEASES, [session]),
    ])
    const adopted = new Set(moved.map(({ runId }) => runId))
    return {
      adopted: leases.filter(({ runId }) => adopted.has(runId)),
      unlisted: leases.filter(({ runId }) => !adopted.has(runId)),
      secret: bound.secret,
    }
  })
}

export async function forgetSession(
  db: Database,
  { session, registration }: Input<'forgetSession'>,
): Promise<void> {
  await transact(db.duty, (tx) => tx.query(FORGET, [session, registration]), 'single')
}
