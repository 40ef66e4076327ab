import type { Database } from 'better-sqlite3'
import { MAX_ID_LEAD_MS, idAtMs, IDS_PER_MS, msOfId, SLOTS } from '../../../core/ids.ts'
import type { ClockRow, JoinedNode } from '../../port.ts'

const SEEN_MS = 600_000

export const DECLARE_ALL_DEAD = `
  UPDATE node SET alive = 0, reap_at = ?, expires_at = NULL WHERE alive = 1`
/** The highest id up to a bound: ids beyond it were minted by a clock that was ahead. */
export const HIGHEST_ID = `
  SELECT max(ifnull((SELECT max(id) FROM run WHERE id <= :bound), 0),
             ifnull((SELECT max(id_mark) FROM node WHERE id_mark <= :bound), 0))`
/** Slots with ids beyond a bound. Reads few rows, if any. */
export const SLOTS_AHEAD = `
  SELECT DISTINCT id / ${IDS_PER_MS / SLOTS} % ${SLOTS} FROM run WHERE id > :bound
   UNION SELECT slot FROM node WHERE id_mark > :bound`
export const TAKEN_SLOTS = `SELECT slot FROM node WHERE alive = 1`
/** A node that died without leaving may have minted ids for as long as its row was valid. */
export const SLOT_FLOOR = `
  SELECT max(id_mark + CASE released WHEN 1 THEN 0 ELSE ? END) FROM node WHERE slot = ?`
export const ENTER = `
  INSERT INTO node (slot, name, alive, expires_at, id_mark) VALUES (?, ?, 1, ?, ?)`
export const MOVE = `UPDATE node SET slot = ?, id_mark = ? WHERE incarnation = ? AND alive = 1`
export const LEAVE_BEHIND = `
  INSERT INTO node (slot, name, alive, released, reap_at, id_mark)
  SELECT slot, name, 0, 1, :now, max(id_mark, :idMark) FROM node WHERE incarnation = :node`
const READ_META = `SELECT value FROM meta WHERE key = ?`
const WRITE_META = `
  INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`
export const IS_ALIVE = `SELECT 1 FROM node WHERE incarnation = ? AND alive = 1`
export const RENEW = `
  UPDATE node SET expires_at = ?, id_mark = max(id_mark, ?) WHERE incarnation = ? AND alive = 1`
export const LEAVE = `
  UPDATE node SET alive = 0, released = 1, reap_at = ?, expires_at = NULL,
         id_mark = max(id_mark, ?)
   WHERE incarnation = ? AND alive = 1`
export const EXPIRED = `
  SELECT incarnation FROM node WHERE alive = 1 AND expires_at <= ? ORDER BY incarnation`
export const DECLARE_DEAD = `
  UPDATE node SET alive = 0, reap_at = ?, expires_at = NULL WHERE incarnation = ? AND alive = 1`

export interface Nodes {
  /** `wall`: the time of the clock, whatever the node expects. */
  join(
    input: { name: string; ttlMs: number; graceMs: number },
    now: number,
    wall: number,
  ): JoinedNode | null
  heartbeat(
    input: { node: number; ttlMs: number; idMark: number },
    now: number,
    wall: number,
  ): { alive: boolean; now: number }
  changeSlot(
    input: { node: number; ttlMs: number; idMark: number },
    now: number,
  ): { slot: number; idFloor: number } | null
  clockFacts(wall: number): ClockRow
  recordClock(input: { seenAt: number; agreedMs: number | null }): void
  leave(input: { node: number; idMark: number }, now: number): void
  declareDeadNodes(now: number): number[]
}

export function prepareNodes(db: Database, exclusive: boolean): Nodes {
  const declareAllDead = db.prepare(DECLARE_ALL_DEAD)
  const move = db.prepare(MOVE)
  const leaveBehind = db.prepare(LEAVE_BEHIND)
  const freeSlot = prepareFreeSlot(db, exclusive)
  const enter = db.prepare(ENTER)
  const isAlive = db.prepare(IS_ALIVE)
  const renew = db.prepare(RENEW)
  const leave = db.prepare(LEAVE)
  const expired = db.prepare<[number], number>(EXPIRED).pluck()
  const declareDead = db.prepare(DECLARE_DEAD)

  /** Id marks that an exclusive node did not write: they are stored when it leaves. */
  let highestMark = 0

  /** The floor is stored as the new row's mark, so that older rows of the slot may be deleted. */
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
    ...prepareClockRecord(db),
    join({ name, ttlMs, graceMs }, now, wall) {
      if (exclusive) declareAllDead.run(now + graceMs)
      const free = freeSlot(now, ttlMs)
      if (free === undefined) return null
      // An exclusive node lives as long as its process holds the lock on the file; its row cannot
      // expire.
      const expiresAt = exclusive ? null : now + ttlMs
      return enterSlot(free.slot, { name, expiresAt, idFloor: free.idFloor, now: wall })
    },
    changeSlot({ node, ttlMs, idMark }, now) {
      if (isAlive.get(node) === undefined) return null
      // Ids beyond the mark must be known to belong to the slot that is left, even without a run.
      leaveBehind.run({ node, now, idMark: Math.max(highestMark, idMark) })
      const free = freeSlot(now, ttlMs)
      if (free === undefined) return null
      move.run(free.slot, free.idFloor, node)
      highestMark = 0
      return free
    },
    heartbeat({ node, ttlMs, idMark }, now, wall) {
      // An exclusive node has no others to inform, and the highest id is in the run table.
      if (exclusive) {
        highestMark = Math.max(highestMark, idMark)
        return { alive: isAlive.get(node) !== undefined, now: wall }
      }
      return { alive: renew.run(now + ttlMs, idMark, node).changes === 1, now: wall }
    },
    leave({ node, idMark }, now) {
      leave.run(now, Math.max(highestMark, idMark), node)
    },
    declareDeadNodes: (now) =>
      expired.all(now).filter((incarnation) => declareDead.run(now, incarnation).changes === 1),
  }
}

/** What the database shows about earlier states of the clock. */
function prepareClockRecord(db: Database): Pick<Nodes, 'clockFacts' | 'recordClock'> {
  const highestId = db.prepare<[{ bound: number }], number>(HIGHEST_ID).pluck()
  const readMeta = db.prepare<[string], number>(READ_META).pluck()
  const writeMeta = db.prepare(WRITE_META)

  return {
    clockFacts(wall) {
      const seenAt = readMeta.get('clock_seen_at') ?? null
      const agreedMs = readMeta.get('clock_agreed_ms') ?? -1
      // Recorded every five minutes: ids more than ten minutes ahead come from a clock that was
      // wrong.
      const bound = seenAt === null ? Number.MAX_SAFE_INTEGER : idAtMs(seenAt + SEEN_MS)
      const highest = highestId.get({ bound }) ?? 0
      const times = [
        ...(seenAt === null ? [] : [seenAt]),
        ...(highest > 0 ? [msOfId(highest)] : []),
      ]
      const newestAt = times.length > 0 ? Math.max(...times) : null
      const highestOfAll = highestId.get({ bound: Number.MAX_SAFE_INTEGER }) ?? 0
      return { wall, newestAt, agreedMs: agreedMs < 0 ? null : agreedMs, highestId: highestOfAll }
    },
    recordClock({ seenAt, agreedMs }) {
      writeMeta.run('clock_seen_at', Math.round(seenAt))
      writeMeta.run('clock_agreed_ms', Math.round(agreedMs ?? -1))
    },
  }
}

interface FreeSlot {
  readonly slot: number
  readonly idFloor: number
}

/**
 * A slot that no live node has, and the id above which it may mint. A slot with ids minted by a
 * clock that was ahead is not used until that time has come; if all slots are like that, ids stay
 * ahead.
 */
function prepareFreeSlot(
  db: Database,
  exclusive: boolean,
): (now: number, ttlMs: number) => FreeSlot | undefined {
  const takenSlots = db.prepare<[], number>(TAKEN_SLOTS).pluck()
  const slotFloor = db.prepare<[number, number], number | null>(SLOT_FLOOR).pluck()
  const slotsAhead = db.prepare<[{ bound: number }], number>(SLOTS_AHEAD).pluck()
  const highestId = db.prepare<[{ bound: number }], number>(HIGHEST_ID).pluck()
  return (now, ttlMs) => {
    const taken = new Set(takenSlots.all())
    const vacant = Array.from({ length: SLOTS }, (_, slot) => slot).filter(
      (slot) => !taken.has(slot),
    )
    const bound = idAtMs(now + MAX_ID_LEAD_MS)
    if (exclusive) {
      const ahead = new Set(slotsAhead.all({ bound }))
      const slot = vacant.find((one) => !ahead.has(one))
      if (slot !== undefined) return { slot, idFloor: highestId.get({ bound }) ?? 0 }
      const idFloor = highestId.get({ bound: Number.MAX_SAFE_INTEGER }) ?? 0
      return vacant[0] === undefined ? undefined : { slot: vacant[0], idFloor }
    }
    return vacant
      .map((slot) => ({ slot, idFloor: slotFloor.get(ttlMs * IDS_PER_MS, slot) ?? 0 }))
      .toSorted(
        (a, b) => Math.max(a.idFloor, bound) - Math.max(b.idFloor, bound) || a.slot - b.slot,
      )[0]
  }
}
