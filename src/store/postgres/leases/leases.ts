import type { Lease, SweepStore } from '../../port.ts'
import { bigints } from '../connection/binary-arrays.ts'
import type { Database } from '../database/database.ts'
import { findEnded } from '../ticks/end.ts'
import { LEASE_COLUMNS, WITH_SPEC } from './lease-row.ts'
import { CLOCK, type Queryable } from '../connection/statement.ts'
import { read, transact } from '../connection/transaction.ts'

const ORPHANS = {
  name: 'orphans',
  text: `
  WITH ${CLOCK}
  SELECT ${LEASE_COLUMNS}
    FROM (
      SELECT lease.* FROM clock CROSS JOIN lease
        LEFT JOIN node ON node.id = lease.node
       WHERE lease.run_id > $2::bigint
         AND (node.id IS NULL OR (NOT node.alive AND node.reap_at <= now))
       ORDER BY lease.run_id LIMIT $3::int) l ${WITH_SPEC}
   ORDER BY l.run_id`,
}
const OWN_LEASES = {
  name: 'own-leases',
  text: `
  SELECT ${LEASE_COLUMNS}
    FROM (
      SELECT * FROM lease WHERE node = $1::int AND run_id > $2::bigint
       ORDER BY run_id LIMIT $3::int) l ${WITH_SPEC}
   ORDER BY l.run_id`,
}
const CANCEL_MARKS = {
  name: 'cancel-marks',
  text: `SELECT run_id AS "runId" FROM lease WHERE cancelling AND node = $1::int ORDER BY run_id`,
}
const LEASES_HELD = {
  name: 'leases-held',
  text: `
  SELECT ${LEASE_COLUMNS}
    FROM unnest($1::bigint[], $2::bigint[]) AS item (run_id, fence)
   CROSS JOIN LATERAL (
     SELECT * FROM lease WHERE lease.run_id = item.run_id AND lease.fence = item.fence LIMIT 1) l
    ${WITH_SPEC}`,
}

export async function orphans(
  db: Database,
  { after, limit }: { after: number; limit: number },
): Promise<readonly Lease[]> {
  return read<Lease>(db.duty, ORPHANS, [db.now(), after, limit])
}

export async function ownLeases(
  db: Database,
  { node, after, limit }: { node: number; after: number; limit: number },
): Promise<readonly Lease[]> {
  return read<Lease>(db.duty, OWN_LEASES, [node, after, limit])
}

export async function cancelMarks(db: Database, { node }: { node: number }): Promise<number[]> {
  const rows = await read<{ runId: number }>(db.duty, CANCEL_MARKS, [node])
  return rows.map(({ runId }) => runId)
}

export async function findAttempts(
  db: Database,
  pairs: Parameters<SweepStore['findAttempts']>[0],
): ReturnType<SweepStore['findAttempts']> {
  if (pairs.length === 0) return []
  const [leases, endedWith] = await transact(db.duty, (tx) => look(tx, pairs), 'reading')
  const byRun = new Map(leases.map((lease) => [`${lease.runId} ${lease.fence}`, lease]))
  return pairs.map(({ runId, fence }) => {
    const lease = byRun.get(`${runId} ${fence}`)
    if (lease) return { kind: 'lease', lease }
    const cause = endedWith({ runId, fence })
    return cause === undefined ? { kind: 'stale' } : { kind: 'ended', cause }
  })
}

/** Leases first: an attempt that ends between the two reads is then found by the second. */
async function look(tx: Queryable, pairs: readonly { runId: number; fence: number }[]) {
  return Promise.all([
    tx.query<Lease>(LEASES_HELD, [
      bigints(pairs.map(({ runId }) => runId)),
      bigints(pairs.map(({ fence }) => fence)),
    ]),
    findEnded(tx, pairs),
  ])
}
