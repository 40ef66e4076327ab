import type { Database } from 'better-sqlite3'
import type { GroundTruth } from './ground-truth.ts'

/** Leases that leave a worker for another state without being counted as an attempt. */
const WATCH = `
  CREATE TEMP TABLE uncounted (n INTEGER PRIMARY KEY, run_id, fence);
  CREATE TEMP TRIGGER watch_uncounted AFTER UPDATE OF status ON run
    WHEN OLD.status = 1 AND NEW.status < 4 AND NEW.attempt = OLD.attempt BEGIN
    INSERT INTO uncounted (run_id, fence) VALUES (NEW.id, OLD.fence);
  END;`

interface Uncounted {
  readonly n: number
  readonly run_id: number
  readonly fence: number
}

/**
 * A lease that is given back counts as never started. If its handler did start, the attempt counter is one too
 * low, and a run that may be lost three times could start forever. No worker drains in this world, so there are
 * no exceptions.
 */
export function createCountingInvariant(db: Database, truth: GroundTruth): { check(): void } {
  db.exec(WATCH)
  const newRows = db.prepare<[number], Uncounted>('SELECT * FROM uncounted WHERE n > ? ORDER BY n')
  const uncounted = new Set<string>()
  const started = new Map<string, string>()
  let last = 0
  let starts = 0

  const judge = (attempt: string) => {
    const worker = started.get(attempt)
    if (worker === undefined || !uncounted.has(attempt)) return
    truth.violate('I10 a start was not counted', `attempt ${attempt} on ${worker}`)
  }

  return {
    check() {
      for (const { n, run_id, fence } of newRows.all(last)) {
        last = n
        uncounted.add(`${run_id}/${fence}`)
        judge(`${run_id}/${fence}`)
      }
      for (const { runId, fence, worker } of truth.starts.slice(starts)) {
        starts += 1
        started.set(`${runId}/${fence}`, worker)
        judge(`${runId}/${fence}`)
      }
    },
  }
}
