import type { Database } from 'better-sqlite3'
import { IDS_PER_MS, SLOTS } from '../../../core/ids.ts'
import type { JoinedNode } from '../../port.ts'

export const DECLARE_ALL_DEAD = `
  UPDATE node SET alive = 0, reap_at = ?, expires_at = NULL WHERE alive = 1`
export const HIGHEST_ID = `
  SELECT max(ifnull((SELECT max(id) FROM run), 0), ifnull((SELECT max(id_mark) FROM node), 0))`
export const TAKEN_SLOTS = `SELECT slot FROM node WHERE alive = 1`
/** A node that went without a goodbye may have minted ids for as long as its row was good. */
export const SLOT_FLOOR = `
  SELECT max(id_mark + CASE released WHEN 1 THEN 0 ELSE ? END) FROM node WHERE slot = ?`
export const ENTER = `
  INSERT INTO node (slot, name, alive, expires_at, id_mark) VALUES (?, ?, 1, ?, ?)`
export const IS_ALIVE = `SELECT 1 FROM node WHERE incarnation = ? AND alive = 1`
export const RENEW = `
  UPDATE node SET expires_at = ?, id_mark = max(id_mark, ?) WHERE incarnation = ? AND alive = 1`
export const LEAVE = `
  UPDATE node SET alive = 0, released = 1, reap_at = ?, expires_at = NULL,
         id_mark = max(id_mark, ?)
   WHERE incarnation = ? AND alive = 1`
export const EXPIRED = `
  SELECT incarnation FROM node WHERE alive = 1 AND expires_at <= ? ORDER BY incarnation`
export const BURY = `
  UPDATE node SET alive = 0, reap_at = ?, expires_at = NULL WHERE incarnation = ? AND alive = 1`

export interface Nodes {
  join(input: { name: string; ttlMs: number; graceMs: number }, now: number): JoinedNode | null
  beat(
    input: { node: number; ttlMs: number; idMark: number },
    now: number,
  ): { alive: boolean; now: number }
  leave(input: { node: number; idMark: number }, now: number): void
  buryDead(now: number): number[]
}

export function prepareNodes(db: Database, exclusive: boolean): Nodes {
  const declareAllDead = db.prepare(DECLARE_ALL_DEAD)
  const highestId = db.prepare<[], number>(HIGHEST_ID).pluck()
  const takenSlots = db.prepare<[], number>(TAKEN_SLOTS).pluck()
  const slotFloor = db.prepare<[number, number], number | null>(SLOT_FLOOR).pluck()
  const enter = db.prepare(ENTER)
  const isAlive = db.prepare(IS_ALIVE)
  const renew = db.prepare(RENEW)
  const leave = db.prepare(LEAVE)
  const expired = db.prepare<[number], number>(EXPIRED).pluck()
  const bury = db.prepare(BURY)

  /** Marks that an exclusive node did not write down: they are stored when it leaves. */
  let highestMark = 0

  const freeSlot = (): number | undefined => {
    const taken = new Set(takenSlots.all())
    return Array.from({ length: SLOTS }, (_, slot) => slot).find((slot) => !taken.has(slot))
  }

  /** The floor is stored as the new row's mark, so that older rows of the slot may be forgotten. */
  const enterSlot = (
    slot: number,
    {
      name,
      expiresAt,
      idFloor,
      now,
    }: { name: string; expiresAt: number | null; idFloor: number; now: number },
  ): JoinedNode => {
    const { lastInsertRowid } = enter.run(slot, name, expiresAt, idFloor)
    return { node: Number(lastInsertRowid), slot, idFloor, now }
  }

  return {
    join({ name, ttlMs, graceMs }, now) {
      if (exclusive) {
        declareAllDead.run(now + graceMs)
        // The process lives as long as its lock on the file; its row cannot expire.
        return enterSlot(0, { name, expiresAt: null, idFloor: highestId.get() ?? 0, now })
      }
      const slot = freeSlot()
      if (slot === undefined) return null
      const idFloor = slotFloor.get(ttlMs * IDS_PER_MS, slot) ?? 0
      return enterSlot(slot, { name, expiresAt: now + ttlMs, idFloor, now })
    },
    beat({ node, ttlMs, idMark }, now) {
      // Alone on the file there is nobody to tell, and the highest id is in the run table.
      if (exclusive) {
        highestMark = Math.max(highestMark, idMark)
        return { alive: isAlive.get(node) !== undefined, now }
      }
      return { alive: renew.run(now + ttlMs, idMark, node).changes === 1, now }
    },
    leave({ node, idMark }, now) {
      leave.run(now, Math.max(highestMark, idMark), node)
    },
    buryDead: (now) =>
      expired.all(now).filter((incarnation) => bury.run(now, incarnation).changes === 1),
  }
}
