import type { Database } from 'better-sqlite3'
import type { Adoption, NodeStore, StoredSession, SessionRecord } from '../../port.ts'
import { prepareOwners } from '../leases/leases.ts'
import { LEASE_COLUMNS, type LeaseRow, toLease } from '../leases/lease-row.ts'

const BINDING = 'node = :node, registration = :registration, name = :name, offer = :offer'
/**
 * Sessions registered before sessions had owners: claimed by the project, only if they serve no
 * other.
 */
const OWNED_BY_PROJECT = `
  secret IS NULL AND (:isEverywhere OR
    (json_array_length(offer, '$.projects') = 1 AND json_extract(offer, '$.projects[0]') = project))`
const IS_OWN = `project = :project AND CASE
    WHEN owner IS NULL THEN ${OWNED_BY_PROJECT}
    WHEN secret IS NULL THEN owner = :owner
    ELSE secret = :secret AND identity = :identity END`
export const OPEN_SESSION = `
  INSERT INTO session (id, node, registration, name, project, offer, seen_at, owner, identity, secret)
    VALUES (:session, :node, :registration, :name, :project, :offer, :now, :owner, :identity, :secret)
    ON CONFLICT (id) DO NOTHING`
export const BIND_SESSION = `
  UPDATE session
     SET ${BINDING}, seen_at = :now, owner = :owner, identity = :identity, quarantined = NULL
   WHERE id = :session AND registration < :registration AND ${IS_OWN}
  RETURNING secret`
export const OWN_SESSION = `SELECT 1 FROM session WHERE id = :session AND ${IS_OWN}`
export const MOVE_LEASE = `
  UPDATE run SET node = ? WHERE id = ? AND status = 1 AND session = ? AND fence = ?`
export const HELD_BY_SESSION = `
  SELECT ${LEASE_COLUMNS} FROM run WHERE status = 1 AND node = ? AND session = ? ORDER BY id`
export const LOAD_SESSION = `SELECT registration, project FROM session WHERE id = ?`
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

export const MARK_SESSION_LOST = `UPDATE session SET offer = NULL WHERE id = ? AND registration = ?`

export const QUARANTINE_SESSION = `
  UPDATE session SET quarantined = ? WHERE id = ? AND registration = ?`

export const TOUCH_SESSION = `
  UPDATE session SET heard_at = max(coalesce(heard_at, 0), :at) WHERE id = :session`

type Input<Name extends keyof NodeStore> = Parameters<NodeStore[Name]>[0]

export interface Sessions {
  openSession(input: Input<'openSession'>, now: number): boolean
  adopt(input: Input<'adopt'>, now: number): Adoption | 'unknown' | 'superseded'
  forgetSession(input: { session: number; registration: number }): void
  markSessionLost(input: { session: number; registration: number }): void
  quarantineSession(input: { session: number; registration: number; reason: string | null }): void
  touchSessions(lastSeen: readonly { session: number; at: number }[]): void
}

export function prepareSessions(db: Database): Sessions {
  const open = db.prepare(OPEN_SESSION)
  const bind = db.prepare<[object], { secret: string | null }>(BIND_SESSION)
  const isOwn = db.prepare<[object]>(OWN_SESSION)
  const moveLease = db.prepare(MOVE_LEASE)
  const heldBySession = db.prepare<[number, number], LeaseRow>(HELD_BY_SESSION)
  const owners = prepareOwners(db)
  const forget = db.prepare(FORGET_SESSION)
  const lose = db.prepare(MARK_SESSION_LOST)
  const quarantine = db.prepare(QUARANTINE_SESSION)
  const touch = db.prepare(TOUCH_SESSION)

  return {
    openSession: (binding, now) => open.run({ ...binding, now }).changes === 1,
    adopt({ held, isEverywhere, ...binding }, now) {
      const { node, session } = binding
      const values = { ...binding, isEverywhere: Number(isEverywhere), now }
      const bound = bind.get(values)
      if (!bound) return isOwn.get(values) ? 'superseded' : 'unknown'
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
        secret: bound.secret,
      }
    },
    forgetSession({ session, registration }) {
      forget.run(session, registration)
    },
    markSessionLost({ session, registration }) {
      lose.run(session, registration)
    },
    quarantineSession({ session, registration, reason }) {
      quarantine.run(reason, session, registration)
    },
    touchSessions(lastSeen) {
      for (const sighting of lastSeen) touch.run(sighting)
    },
  }
}

export function prepareSessionQueries(db: Database) {
  const list = db.prepare<[], SessionRecord>(LIST_SESSIONS)
  const nodes = db.prepare<[], number>(COUNT_NODES).pluck()
  const recall = db.prepare<[number], Omit<StoredSession, 'held'>>(LOAD_SESSION)
  const fences = db.prepare<[number, number], StoredSession['held'][number]>(FENCES_OF_SESSION)
  const owners = prepareOwners(db)
  return {
    loadSession({ session }: { session: number }): StoredSession | null {
      const known = recall.get(session)
      if (!known) return null
      return { ...known, held: [...owners()].flatMap((owner) => fences.all(owner, session)) }
    },
    listSessions: (): SessionRecord[] => list.all(),
    countNodes: (): number => nodes.get() ?? 0,
  }
}
