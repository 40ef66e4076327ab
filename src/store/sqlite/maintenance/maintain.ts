import type { Database } from 'better-sqlite3'

const BITE = 2_000
const HOUR_MS = 3_600_000
const SESSION_KEPT_MS = 7 * 24 * HOUR_MS

export const EXPIRE_KEYS = `
  DELETE FROM dedupe WHERE id IN (
    SELECT id FROM dedupe WHERE until IS NOT NULL AND until <= ? ORDER BY until LIMIT ${BITE})`
/** The newest row of a slot stays: it holds the slot's id mark. */
export const FORGET_NODES = `
  DELETE FROM node WHERE alive = 0 AND reap_at < ?
     AND incarnation < (SELECT max(incarnation) FROM node AS newer WHERE newer.slot = node.slot)`
export const FORGET_SESSIONS = `
  DELETE FROM session WHERE seen_at < ?
     AND NOT EXISTS (SELECT 1 FROM node WHERE incarnation = session.node AND alive = 1)
     AND NOT EXISTS (SELECT 1 FROM run WHERE status = 1 AND run.session = session.id)`

/** One bite of housekeeping; true when there is more to do. */
export type Maintain = (now: number) => boolean

export function prepareMaintain(db: Database): Maintain {
  const expireKeys = db.prepare(EXPIRE_KEYS)
  const forgetNodes = db.prepare(FORGET_NODES)
  const forgetSessions = db.prepare(FORGET_SESSIONS)

  return (now) => {
    const { changes } = expireKeys.run(now)
    if (changes === BITE) return true
    forgetNodes.run(now - HOUR_MS)
    forgetSessions.run(now - SESSION_KEPT_MS)
    return false
  }
}
