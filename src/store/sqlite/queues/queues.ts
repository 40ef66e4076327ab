import type { Database } from 'better-sqlite3'
import type { Bucket, Rate } from '../../../core/queue/rate.ts'
import type { QueueRecord, QueueStore } from '../../port.ts'
import type { Audit } from '../audit/audit.ts'
import type { Sync } from '../connection/sync.ts'

const PUT_QUEUE = `
  INSERT INTO queue (project_id, name, paused, default_timeout_ms, max_timeout_ms,
                     rate_limit, rate_per_ms, rate_burst)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (project_id, name) DO UPDATE
    SET paused = excluded.paused, default_timeout_ms = excluded.default_timeout_ms,
        max_timeout_ms = excluded.max_timeout_ms, rate_limit = excluded.rate_limit,
        rate_per_ms = excluded.rate_per_ms, rate_burst = excluded.rate_burst`
const ALL_QUEUES = `
  SELECT project_id AS projectId, name, paused, default_timeout_ms AS defaultTimeoutMs,
         max_timeout_ms AS maxTimeoutMs, rate_limit AS "limit", rate_per_ms AS perMs,
         rate_burst AS burst, rate_level AS level, rate_at AS at FROM queue ORDER BY project_id, name`
export const LANE_DEPTHS = `
  SELECT lane_id AS laneId, count(*) AS ready FROM run WHERE status = 0 GROUP BY lane_id`

type QueueRow = Omit<QueueRecord, 'paused' | 'rate' | 'bucket'> &
  Bucket &
  (Rate | { readonly limit: null }) & { readonly paused: number }

export function preparePutQueue(db: Database, audit: Audit) {
  const put = db.prepare(PUT_QUEUE)
  return (input: Parameters<QueueStore['putQueue']>[0], now: number): void => {
    const { projectId, name, paused, defaultTimeoutMs, maxTimeoutMs, rate } = input
    const { limit = null, perMs = null, burst = null } = rate ?? {}
    put.run(projectId, name, Number(paused), defaultTimeoutMs, maxTimeoutMs, limit, perMs, burst)
    audit(input.audit, now)
  }
}

export function prepareQueueQueries(db: Database): Sync<Omit<QueueStore, 'putQueue'>> {
  const all = db.prepare<[], QueueRow>(ALL_QUEUES)
  const depths = db.prepare<[], { laneId: number; ready: number }>(LANE_DEPTHS)
  return {
    listQueues: () => all.all().map(toRecord),
    laneDepths: () => depths.all(),
  }
}

function toRecord(row: QueueRow): QueueRecord {
  const { projectId, name, paused, defaultTimeoutMs, maxTimeoutMs, level, at } = row
  const rate = row.limit === null ? null : { limit: row.limit, perMs: row.perMs, burst: row.burst }
  return {
    projectId,
    name,
    paused: paused === 1,
    defaultTimeoutMs,
    maxTimeoutMs,
    rate,
    bucket: { level, at },
  }
}
