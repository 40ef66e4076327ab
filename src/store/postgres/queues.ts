import type { QueueSetting, QueueStore } from '../port.ts'
import { addAudit } from './audit.ts'
import type { Database } from './database.ts'
import { read, transact } from './transaction.ts'

const PUT_QUEUE = {
  name: 'put-queue',
  text: `
  INSERT INTO queue (project_id, name, paused, default_timeout_ms, max_timeout_ms)
  VALUES ($1::int, $2, $3::boolean, $4::bigint, $5::bigint)
      ON CONFLICT (project_id, name) DO UPDATE
         SET paused = excluded.paused, default_timeout_ms = excluded.default_timeout_ms,
             max_timeout_ms = excluded.max_timeout_ms`,
}
const ALL_QUEUES = {
  name: 'all-queues',
  text: `
  SELECT project_id AS "projectId", name, paused, default_timeout_ms AS "defaultTimeoutMs",
         max_timeout_ms AS "maxTimeoutMs" FROM queue ORDER BY project_id, name COLLATE "C"`,
}
const LANE_DEPTHS = {
  name: 'lane-depths',
  text: `SELECT lane_id AS "laneId", count(*)::int AS ready FROM ready GROUP BY lane_id`,
}

export async function putQueue(
  db: Database,
  input: Parameters<QueueStore['putQueue']>[0],
): Promise<void> {
  const { projectId, name, paused, defaultTimeoutMs, maxTimeoutMs, audit } = input
  await transact(db.duty, async (work) => {
    await work.query(PUT_QUEUE, [projectId, name, paused, defaultTimeoutMs, maxTimeoutMs])
    await addAudit(work, db.now(), audit)
  })
}

export async function listQueues(db: Database): Promise<QueueSetting[]> {
  return read<QueueSetting>(db.reading, ALL_QUEUES)
}

export async function laneDepths(db: Database): ReturnType<QueueStore['laneDepths']> {
  return read<{ laneId: number; ready: number }>(db.reading, LANE_DEPTHS)
}
