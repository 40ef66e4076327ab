import { MAX_ID_LEAD_MS, ID_EPOCH_MS, IDS_PER_MS, SLOTS } from '../../../core/ids.ts'
import type { ClockRow, JoinedNode, NodeStore } from '../../port.ts'
import type { Database } from '../database/database.ts'
import { sqlStateOf } from '../connection/store-errors.ts'
import { CLOCK, WALL } from '../connection/statement.ts'
import { read, transact } from '../connection/transaction.ts'

const SEEN_MS = 600_000

type Input<Name extends keyof NodeStore> = Parameters<NodeStore[Name]>[0]

/**
 * A slot that no live node has, with the id above which it may mint (`$3`: the TTL). Marks of dead
 * nodes no longer change: a node that left recorded its last id, one that vanished may have minted
 * until its row expired. A slot with ids minted by a clock that was ahead is not used until that
 * time has come; if all slots are like that, the one least ahead is taken.
 */
const FREE_SLOT = `
  free AS (
    SELECT slot, floor FROM (
      SELECT slot, (
          SELECT coalesce(max(CASE WHEN released THEN id_mark
                                   ELSE id_mark + $3::bigint * ${IDS_PER_MS} END), 0)
            FROM node WHERE node.slot = slots.slot) AS floor
        FROM generate_series(0, ${SLOTS - 1}) AS slots (slot)
       WHERE NOT EXISTS (SELECT FROM node WHERE node.slot = slots.slot AND alive)) vacant
     ORDER BY greatest(floor - (
         (SELECT now FROM clock) - ${ID_EPOCH_MS} + ${MAX_ID_LEAD_MS}) * ${IDS_PER_MS}, 0), slot
     LIMIT 1)`
const JOIN = {
  name: 'join',
  text: `
  WITH ${CLOCK},
  ${FREE_SLOT}
  INSERT INTO node (slot, name, alive, released, expires_at, id_mark)
  SELECT free.slot, $2, true, false, now + $3::bigint, free.floor
    FROM free CROSS JOIN clock
  RETURNING id AS node, slot, id_mark AS "idFloor", coalesce($4::bigint, ${WALL}) AS now`,
}
/** The slot is given up together with its ids; the node continues in another. */
const CHANGE_SLOT = {
  name: 'change-slot',
  text: `
  WITH ${CLOCK},
  ${FREE_SLOT},
  moving AS (SELECT id, slot, name FROM node WHERE id = $2::int AND alive FOR UPDATE),
  left_behind AS (
    INSERT INTO node (slot, name, alive, released, expires_at, reap_at, id_mark)
    SELECT moving.slot, moving.name, false, true, now, now, $4::bigint
      FROM moving CROSS JOIN free CROSS JOIN clock)
  UPDATE node SET slot = free.slot, id_mark = free.floor
    FROM moving CROSS JOIN free WHERE node.id = moving.id
  RETURNING node.slot, node.id_mark AS "idFloor"`,
}
const HEARTBEAT = {
  name: 'heartbeat',
  text: `
  WITH ${CLOCK},
  renewed AS (
    UPDATE node SET expires_at = now + $3::bigint, id_mark = greatest(id_mark, $4::bigint)
      FROM clock WHERE id = $2::int AND alive RETURNING 1)
  SELECT coalesce($5::bigint, ${WALL}) AS now, EXISTS (SELECT FROM renewed) AS alive`,
}
const LEAVE = {
  name: 'leave',
  text: `
  WITH ${CLOCK}
  UPDATE node SET alive = false, released = true, reap_at = now, id_mark = greatest(id_mark, $3::bigint)
    FROM clock WHERE id = $2::int AND alive`,
}
const DECLARE_DEAD_NODES = {
  name: 'declare-dead-nodes',
  text: `
  WITH ${CLOCK}
  UPDATE node SET alive = false, reap_at = now
    FROM clock WHERE alive AND expires_at < now
  RETURNING id`,
}
/**
 * Ids more than ten minutes beyond the last recorded time (it is recorded every five) come from a
 * clock that was wrong.
 */
const CLOCK_FACTS = {
  name: 'clock-facts',
  text: `
  WITH seen AS (
    SELECT (SELECT value::bigint FROM meta WHERE key = 'clock_seen_at') AS at),
  bound AS (
    SELECT coalesce((at - ${ID_EPOCH_MS} + ${SEEN_MS}) * ${IDS_PER_MS}, ${Number.MAX_SAFE_INTEGER}) AS id
      FROM seen),
  newest AS (
    SELECT greatest(
        (SELECT max(id) FROM run WHERE id <= bound.id),
        (SELECT max(id_mark) FROM node WHERE id_mark <= bound.id)) AS id
      FROM bound)
  SELECT coalesce($1::bigint, ${WALL}) AS wall,
         greatest(seen.at, nullif(newest.id, 0) / ${IDS_PER_MS} + ${ID_EPOCH_MS}) AS "newestAt",
         (SELECT nullif(value::bigint, -1) FROM meta WHERE key = 'clock_agreed_ms') AS "agreedMs",
         coalesce((SELECT max(id) FROM run), 0) AS "highestId"
    FROM seen CROSS JOIN newest`,
}
const RECORD_CLOCK = {
  name: 'record-clock',
  text: `
  INSERT INTO meta (key, value)
  VALUES ('clock_seen_at', $1::bigint::text), ('clock_agreed_ms', coalesce($2::bigint, -1)::text)
  ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
}
const UNIQUE_VIOLATION = '23505'

export async function join(
  db: Database,
  { name, ttlMs }: Input<'join'>,
): Promise<JoinedNode | null> {
  return retryUntilFree(async () => {
    const rows = await transact(
      db.duty,
      (tx) => tx.query<JoinedNode>(JOIN, [db.now(), name, ttlMs, db.testWall()]),
      'single',
    )
    return rows[0] ?? null
  })
}

/** Another node may take the slot at the same moment; there are finitely many, so this ends. */
async function retryUntilFree<T>(take: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await take()
    } catch (error) {
      if (sqlStateOf(error) !== UNIQUE_VIOLATION) throw error
    }
  }
}

export async function heartbeat(
  db: Database,
  { node, ttlMs, idMark }: Input<'heartbeat'>,
): Promise<{ alive: boolean; now: number }> {
  const [row] = await transact(
    db.duty,
    (tx) =>
      tx.query<{ alive: boolean; now: number }>(HEARTBEAT, [
        db.now(),
        node,
        ttlMs,
        idMark,
        db.testWall(),
      ]),
    'single',
  )
  return row!
}

export async function changeSlot(
  db: Database,
  { node, ttlMs, idMark }: Input<'changeSlot'>,
): Promise<{ slot: number; idFloor: number } | null> {
  return retryUntilFree(async () => {
    const rows = await transact(
      db.duty,
      (tx) =>
        tx.query<{ slot: number; idFloor: number }>(CHANGE_SLOT, [db.now(), node, ttlMs, idMark]),
      'single',
    )
    return rows[0] ?? null
  })
}

export async function clockFacts(db: Database): Promise<ClockRow> {
  const [row] = await read<ClockRow>(db.duty, CLOCK_FACTS, [db.testWall()])
  return row!
}

export async function recordClock(
  db: Database,
  { seenAt, agreedMs }: Input<'recordClock'>,
): Promise<void> {
  await transact(db.duty, (tx) => tx.query(RECORD_CLOCK, [seenAt, agreedMs]), 'single')
}

export async function leave(db: Database, { node, idMark }: Input<'leave'>): Promise<void> {
  await transact(db.duty, (tx) => tx.query(LEAVE, [db.now(), node, idMark]), 'single')
}

export async function declareDeadNodes(db: Database): Promise<readonly number[]> {
  const rows = await transact(
    db.duty,
    (tx) => tx.query<{ id: number }>(DECLARE_DEAD_NODES, [db.now()]),
    'single',
  )
  return rows.map(({ id }) => id)
}
