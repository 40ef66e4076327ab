import type { Database } from 'better-sqlite3'
import type { QueueSetting, QueueStore } from '../port.ts'
import type { Audit } from './audit.ts'
import type { Sync } from './verbs.ts'

const PUT_QUEUE = `
  INSERT INTO queue (project_id, name, paused, default_timeout_ms, max_timeout_ms)
  VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (project_id, name) DO UPDATE
    SET paused = excluded.paused, default_timeout_ms = excluded.default_timeout_ms,
        max_timeout_ms = excluded.max_timeout_ms`
const ALL_QUEUES = `
  SELECT project_id AS projectId, name, paused, default_timeout_ms AS defaultTimeoutMs,
         max_timeout_ms AS maxTimeoutMs FROM queue ORDER BY project_id, name`
export const LANE_DEPTHS = `
  SELECT lane_id AS laneId, count(*) AS ready FROM run WHERE status = 0 GROUP BY lane_id`

type QueueRow = Omit<QueueSetting, 'paused'> & { readonly paused: number }

export function preparePutQueue(db: Database, audit: Audit) {
  const put = db.prepare(PUT_QUEUE)
  return (input: Parameters<QueueStore['putQueue']>[0], now: number): void => {
    const { projectId, name, paused, defaultTimeoutMs, maxTimeoutMs } = input
    put.run(projectId, name, Number(paused), defaultTimeoutMs, maxTimeoutMs)
    audit(input.audit, now)
  }
}

export function prepareQueueQueries(db: Database): Sync<Omit<QueueStore, 'putQueue'>> {
  const all = db.prepare<[], QueueRow>(ALL_QUEUES)
  const depths = db.prepare<[], { laneId: number; ready: number }>(LANE_DEPTHS)
  return {
    listQueues: () => all.all().map((row) => ({ ...row, paused: row.paused === 1 })),
    laneDepths: () => depths.all(),
  }
}
