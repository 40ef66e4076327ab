import type { Database } from 'better-sqlite3'
import type { Lease, NodeStore, RecalledSession, SessionRecord } from '../../port.ts'
import { prepareOwners } from '../leases/leases.ts'
import { LEASE_COLUMNS, type LeaseRow, toLease } from '../leases/lease-row.ts'

export const BIND_SESSION = `
  INSERT INTO session (id, node, registration, name, project, offer, seen_at)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE
    SET node = excluded.node, registration = excluded.registration, name = excluded.name,
        project = excluded.project, offer = excluded.offer, seen_at = excluded.seen_at,
        quarantined = NULL
    WHERE excluded.registration > session.registration
      AND coalesce(session.project = excluded.project, 1)`
export const MOVE_LEASE = `
  UPDATE run SET node = ? WHERE id = ? AND status = 1 AND session = ? AND fence = ?`
export const HELD_BY_SESSION = `
  SELECT ${LEASE_COLUMNS} FROM run WHERE status = 1 AND node = ? AND session = ? ORDER BY id`
export const RECALL_SESSION = `SELECT registration, project FROM session WHERE id = ?`
export const FENCES_OF_SESSION = `
  SELECT id AS runId, fence, started_at AS startedAt
    FROM run WHERE status = 1 AND node = ? AND session = ? ORDER BY id`
export const FORGET_SESSION = `DELETE FROM session WHERE id = ? AND registration = ?`

/** Leases are few and have an index; sessions are counted in one pass over them. */
export const LIST_SESSIONS = `
  SELECT s.id, s.name, s.offer, s.seen_at AS since, s.node, n.name AS nodeName,
         coalesce(busy.running, 0) AS running, coalesce(busy.used, 0) AS used, s.quarantined
    FROM session s JOIN node n ON n.incarnation = s.node AND n.alive = 1 AND s.offer IS NOT NULL
    LEFT JOIN (SELECT session, count(*) AS running, sum(lane.weight) AS used
                 FROM run JOIN lane ON lane.id = run.lane_id WHERE status = 1 GROUP BY session) busy
      ON busy.session = s.id
   ORDER BY s.name, s.id`

const COUNT_NODES = `SELECT count(*) FROM node WHERE alive = 1`

export const LOSE_SESSION = `UPDATE session SET offer = NULL WHERE id = ? AND registration = ?`

export const QUARANTINE_SESSION = `
  UPDATE session SET quarantined = ? WHERE id = ? AND registration = ?`

export const TOUCH_SESSION = `
  UPDATE session SET heard_at = max(coalesce(heard_at, 0), :at) WHERE id = :session`

type Adoption = Parameters<NodeStore['adopt']>[0]

export interface Sessions {
  adopt(
    input: Adoption,
    now: number,
  ): { adopted: readonly Lease[]; unlisted: readonly Lease[] } | null
  forgetSession(input: { session: number; registration: number }): void
  loseSession(input: { session: number; registration: number }): void
  quarantineSession(input: { session: number; registration: number; reason: string | null }): void
  touchSessions(sightings: readonly { session: number; at: number }[]): void
}

export function prepareSessions(db: Database): Sessions {
  const bind = db.prepare(BIND_SESSION)
  const moveLease = db.prepare(MOVE_LEASE)
  const heldBySession = db.prepare<[number, number], LeaseRow>(HELD_BY_SESSION)
  const owners = prepareOwners(db)
  const forget = db.prepare(FORGET_SESSION)
  const lose = db.prepare(LOSE_SESSION)
  const quarantine = db.prepare(QUARANTINE_SESSION)
  const touch = db.prepare(TOUCH_SESSION)

  return {
    adopt({ node, session, registration, name, project = null, offer = null, held }, now) {
      const bound = bind.run(session, node, registration, name, project, offer, now)
      if (bound.changes === 0) return null
      const moved = new Set<number>()
      for (const { runId, fence } of held) {
        if (moveLease.run(node, runId, session, fence).changes === 1) moved.add(runId)
      }
      const leases = [...owners()].flatMap((owner) =>
        heldBySession.all(owner, session).map(toLease),
      )
      return {
        adopted: leases.filter(({ runId }) => moved.has(runId)),
        unlisted: leases.filter(({ runId }) => !moved.has(runId)),
      }
    },
    forgetSession({ session, registration }) {
      forget.run(session, registration)
    },
    loseSession({ session, registration }) {
      lose.run(session, registration)
    },
    quarantineSession({ session, registration, reason }) {
      quarantine.run(reason, session, registration)
    },
    touchSessions(sightings) {
      for (const sighting of sightings) touch.run(sighting)
    },
  }
}

export function prepareSessionQueries(db: Database) {
  const list = db.prepare<[], SessionRecord>(LIST_SESSIONS)
  const nodes = db.prepare<[], number>(COUNT_NODES).pluck()
  const recall = db.prepare<[number], Omit<RecalledSession, 'held'>>(RECALL_SESSION)
  const fences = db.prepare<[number, number], RecalledSession['held'][number]>(FENCES_OF_SESSION)
  const owners = prepareOwners(db)
  return {
    recallSession({ session }: { session: number }): RecalledSession | null {
      const known = recall.get(session)
      if (!known) return null
      return { ...known, held: [...owners()].flatMap((owner) => fences.all(owner, session)) }
    },
    listSessions: (): SessionRecord[] => list.all(),
    countNodes: (): number => nodes.get() ?? 0,
  }
}
