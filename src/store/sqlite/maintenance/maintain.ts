import type { Database } from 'better-sqlite3'

const BATCH_SIZE = 2_000
const HOUR_MS = 3_600_000
const SESSION_KEPT_MS = 7 * 24 * HOUR_MS

export const EXPIRE_KEYS = `
  DELETE FROM dedupe WHERE id IN (
    SELECT id FROM dedupe WHERE until IS NOT NULL AND until <= ? ORDER BY until LIMIT ${BATCH_SIZE})`
/** Keeps the row with the highest id mark of a slot. */
export const FORGET_NODES = `
  DELETE FROM node WHERE alive = 0 AND reap_at < ?
     AND EXISTS (SELECT 1 FROM node AS other WHERE other.slot = node.slot
                    AND (other.id_mark, other.incarnation) > (node.id_mark, node.incarnation))`
/** A lost session has no offer. A session with leases stays: its worker may come back for them. */
export const FORGET_SESSIONS = `
  DELETE FROM session WHERE seen_at < ?
     AND (offer IS NULL
          OR NOT EXISTS (SELECT 1 FROM node WHERE incarnation = session.node AND alive = 1))
     AND NOT EXISTS (SELECT 1 FROM run WHERE status = 1 AND run.session = session.id)`

/** Runs one batch of maintenance; true when there is more to do. */
export type Maintenance = (now: number, mayDelete: boolean) => boolean

export function prepareMaintenance(db: Database): Maintenance {
  const expireKeys = db.prepare(EXPIRE_KEYS)
  const forgetNodes = db.prepare(FORGET_NODES)
  const forgetSessions = db.prepare(FORGET_SESSIONS)

  return (now, mayDelete) => {
    if (!mayDelete) return false
    const { changes } = expireKeys.run(now)
    if (changes === BATCH_SIZE) return true
    forgetNodes.run(now - HOUR_MS)
    forgetSessions.run(now - SESSION_KEPT_MS)
    return false
  }
}
