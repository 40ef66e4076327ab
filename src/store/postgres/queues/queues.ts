import type { Bucket, Rate } from '../../../core/queue/rate.ts'
import type { QueueRecord, QueueStore } from '../../port.ts'
import { addAudit } from '../audit/audit.ts'
import { type Database, pickLists } from '../database/database.ts'
import { read, transact } from '../connection/transaction.ts'

const PUT_QUEUE = {
  name: 'put-queue',
  text: `
  INSERT INTO queue (project_id, name, paused, default_timeout_ms, max_timeout_ms,
                     rate_limit, rate_per_ms, rate_burst)
  VALUES ($1::int, $2, $3::boolean, $4::bigint, $5::bigint, $6::int, $7::bigint, $8::int)
      ON CONFLICT (project_id, name) DO UPDATE
         SET paused = excluded.paused, default_timeout_ms = excluded.default_timeout_ms,
             max_timeout_ms = excluded.max_timeout_ms, rate_limit = excluded.rate_limit,
             rate_per_ms = excluded.rate_per_ms, rate_burst = excluded.rate_burst`,
}
const ALL_QUEUES = {
  name: 'all-queues',
  text: `
  SELECT project_id AS "projectId", name, paused, default_timeout_ms AS "defaultTimeoutMs",
         max_timeout_ms AS "maxTimeoutMs", rate_limit AS "limit", rate_per_ms AS "perMs",
         rate_burst AS burst, rate_level AS level, rate_at AS at FROM queue ORDER BY project_id, name COLLATE "C"`,
}
const LANE_DEPTHS = {
  name: 'lane-depths',
  text: `SELECT lane_id AS "laneId", count(*)::int AS ready FROM ready GROUP BY lane_id`,
}

export async function putQueue(
  db: Database,
  input: Parameters<QueueStore['putQueue']>[0],
): Promise<void> {
  const { projectId, name, paused, defaultTimeoutMs, maxTimeoutMs, rate, audit } = input
  const { limit = null, perMs = null, burst = null } = rate ?? {}
  await transact(db.duty, async (tx) => {
    await tx.query(PUT_QUEUE, [
      projectId,
      name,
      paused,
      defaultTimeoutMs,
      maxTimeoutMs,
      limit,
      perMs,
      burst,
    ])
    await addAudit(tx, db.now(), audit)
  })
}

type QueueRow = Omit<QueueRecord, 'rate' | 'bucket'> & Bucket & (Rate | { readonly limit: null })

export async function listQueues(db: Database): Promise<QueueRecord[]> {
  return (await read<QueueRow>(db.reading, ALL_QUEUES)).map(toRecord)
}

function toRecord(row: QueueRow): QueueRecord {
  const { projectId, name, paused, defaultTimeoutMs, maxTimeoutMs, level, at } = row
  const rate = row.limit === null ? null : { limit: row.limit, perMs: row.perMs, burst: row.burst }
  return {
    projectId,
    name,
    paused,
    defaultTimeoutMs,
    maxTimeoutMs,
    rate,
    bucket: { level, at },
  }
}

export async function laneDepths(db: Database): ReturnType<QueueStore['laneDepths']> {
  return read<{ laneId: number; ready: number }>(pickLists(db), LANE_DEPTHS)
}
