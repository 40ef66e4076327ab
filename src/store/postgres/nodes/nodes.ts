import { IDS_PER_MS, SLOTS } from '../../../core/ids.ts'
import type { JoinedNode, NodeStore } from '../../port.ts'
import type { Database } from '../database/database.ts'
import { sqlStateOf } from '../connection/store-errors.ts'
import { CLOCK } from '../connection/statement.ts'
import { transact } from '../connection/transaction.ts'

type Input<Verb extends keyof NodeStore> = Parameters<NodeStore[Verb]>[0]

/**
 * The lowest slot nobody lives in. Marks of the dead do not change any more, so the floor may be read
 * in the same breath: a node that left said its last id, one that vanished may have minted on until
 * its row expired.
 */
const JOIN = {
  name: 'join',
  text: `
  WITH ${CLOCK},
  free AS (
    SELECT slot FROM generate_series(0, ${SLOTS - 1}) AS slot
     WHERE NOT EXISTS (SELECT FROM node WHERE node.slot = slot.slot AND alive)
     ORDER BY slot LIMIT 1),
  floor AS (
    SELECT coalesce(max(CASE WHEN released THEN id_mark
                             ELSE id_mark + $3::bigint * ${IDS_PER_MS} END), 0) AS id
      FROM node WHERE slot = (SELECT slot FROM free))
  INSERT INTO node (slot, name, alive, released, expires_at, id_mark)
  SELECT free.slot, $2, true, false, now + $3::bigint, floor.id
    FROM free CROSS JOIN floor CROSS JOIN clock
  RETURNING id AS node, slot, id_mark AS "idFloor", expires_at - $3::bigint AS now`,
}
const BEAT = {
  name: 'beat',
  text: `
  WITH ${CLOCK},
  renewed AS (
    UPDATE node SET expires_at = now + $3::bigint, id_mark = greatest(id_mark, $4::bigint)
      FROM clock WHERE id = $2::int AND alive RETURNING 1)
  SELECT now, EXISTS (SELECT FROM renewed) AS alive FROM clock`,
}
const LEAVE = {
  name: 'leave',
  text: `
  WITH ${CLOCK}
  UPDATE node SET alive = false, released = true, reap_at = now, id_mark = greatest(id_mark, $3::bigint)
    FROM clock WHERE id = $2::int AND alive`,
}
const BURY_DEAD = {
  name: 'bury-dead',
  text: `
  WITH ${CLOCK}
  UPDATE node SET alive = false, reap_at = now
    FROM clock WHERE alive AND expires_at < now
  RETURNING id`,
}
const UNIQUE_VIOLATION = '23505'

export async function join(
  db: Database,
  { name, ttlMs }: Input<'join'>,
): Promise<JoinedNode | null> {
  for (;;) {
    try {
      const rows = await transact(
        db.duty,
        (work) => work.query<JoinedNode>(JOIN, [db.now(), name, ttlMs]),
        'single',
      )
      return rows[0] ?? null
    } catch (error) {
      // Another node took the slot in this moment; there are finitely many, so this ends.
      if (sqlStateOf(error) !== UNIQUE_VIOLATION) throw error
    }
  }
}

export async function beat(
  db: Database,
  { node, ttlMs, idMark }: Input<'beat'>,
): Promise<{ alive: boolean; now: number }> {
  const [row] = await transact(
    db.duty,
    (work) => work.query<{ alive: boolean; now: number }>(BEAT, [db.now(), node, ttlMs, idMark]),
    'single',
  )
  return row!
}

export async function leave(db: Database, { node, idMark }: Input<'leave'>): Promise<void> {
  await transact(db.duty, (work) => work.query(LEAVE, [db.now(), node, idMark]), 'single')
}

export async function buryDead(db: Database): Promise<readonly number[]> {
  const rows = await transact(
    db.duty,
    (work) => work.query<{ id: number }>(BURY_DEAD, [db.now()]),
    'single',
  )
  return rows.map(({ id }) => id)
}
