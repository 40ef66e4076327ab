import type { Lease, NodeStore, RecalledSession, SessionRecord } from '../../port.ts'
import { bigints } from '../connection/binary-arrays.ts'
import type { Database } from '../database/database.ts'
import { LEASE, WITH_SPEC } from '../leases/leases.ts'
import { CLOCK } from '../connection/statement.ts'
import { read, transact } from '../connection/transaction.ts'

type Input<Verb extends keyof NodeStore> = Parameters<NodeStore[Verb]>[0]

const REGISTER = {
  name: 'register',
  text: `
  WITH ${CLOCK}
  INSERT INTO session AS s (id, registration, node, name, project, offer, seen_at)
  SELECT $2::bigint, $3::bigint, $4::int, $5, $6, $7, now FROM clock
      ON CONFLICT (id) DO UPDATE
         SET registration = excluded.registration, node = excluded.node, name = excluded.name,
             project = excluded.project, offer = excluded.offer, seen_at = excluded.seen_at,
             quarantined = NULL
       WHERE s.registration < excluded.registration
         AND coalesce(s.project = excluded.project, true)
  RETURNING id`,
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
  SELECT ${LEASE}
    FROM (SELECT * FROM lease WHERE session = $1::bigint) l ${WITH_SPEC}
   ORDER BY l.run_id`,
}
const RECALL = {
  name: 'recall-session',
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

const LOSE = {
  name: 'lose-session',
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

export async function loseSession(
  db: Database,
  { session, registration }: Input<'loseSession'>,
): Promise<void> {
  await transact(db.duty, (work) => work.query(LOSE, [session, registration]), 'single')
}

export async function quarantineSession(
  db: Database,
  { session, registration, reason }: Input<'quarantineSession'>,
): Promise<void> {
  const values = [session, registration, reason]
  await transact(db.duty, (work) => work.query(QUARANTINE, values), 'single')
}

export async function touchSessions(
  db: Database,
  sightings: Input<'touchSessions'>,
): Promise<void> {
  if (sightings.length === 0) return
  // In one order, whoever writes: two nodes must not wait for each other.
  const sorted = sightings.toSorted((a, b) => a.session - b.session)
  const values = [
    bigints(sorted.map(({ session }) => session)),
    bigints(sorted.map(({ at }) => at)),
  ]
  await transact(db.duty, (work) => work.query(TOUCH, values), 'single')
}

export async function countNodes(db: Database): Promise<number> {
  const [row] = await read<{ alive: number }>(db.reading, COUNT_NODES)
  return row?.alive ?? 0
}

type RecalledRow = Omit<RecalledSession, 'held'> &
  (
    | RecalledSession['held'][number]
    | { readonly [Part in keyof RecalledSession['held'][number]]: null }
  )

export async function recallSession(
  db: Database,
  { session }: Input<'recallSession'>,
): Promise<RecalledSession | null> {
  const rows = await read<RecalledRow>(db.duty, RECALL, [session])
  const [known] = rows
  if (!known) return null
  const held = rows.flatMap(({ runId, fence, startedAt }) =>
    runId === null ? [] : [{ runId, fence, startedAt }],
  )
  return { registration: known.registration, project: known.project, held }
}

export async function listSessions(db: Database): Promise<SessionRecord[]> {
  return read<SessionRecord>(db.reading, LIST_SESSIONS)
}

export async function adopt(
  db: Database,
  { node, session, registration, name, project, offer, held }: Input<'adopt'>,
): ReturnType<NodeStore['adopt']> {
  const sorted = held.toSorted((a, b) => a.runId - b.runId)
  return transact(db.duty, async (work) => {
    const accepted = await work.query(REGISTER, [
      ...[db.now(), session, registration, node, name, project ?? null, offer ?? null],
    ])
    if (accepted.length === 0) return null
    const [moved, leases] = await Promise.all([
      work.query<{ runId: number }>(ADOPT, [
        bigints(sorted.map(({ runId }) => runId)),
        bigints(sorted.map(({ fence }) => fence)),
        session,
        node,
      ]),
      work.query<Lease>(SESSION_LEASES, [session]),
    ])
    const adopted = new Set(moved.map(({ runId }) => runId))
    return {
      adopted: leases.filter(({ runId }) => adopted.has(runId)),
      unlisted: leases.filter(({ runId }) => !adopted.has(runId)),
    }
  })
}

export async function forgetSession(
  db: Database,
  { session, registration }: Input<'forgetSession'>,
): Promise<void> {
  await transact(db.duty, (work) => work.query(FORGET, [session, registration]), 'single')
}
