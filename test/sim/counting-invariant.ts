import type { Database } from 'better-sqlite3'
import type { Truth } from './ground-truth.ts'

/** Whatever leaves a worker and goes on, without having been counted as an attempt. */
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
 * What is given back was never started, and never will be: whoever counts attempts would count one
 * too few otherwise, and a run that may be lost three times would be started for ever. Nobody drains
 * here, so there are no exceptions.
 */
export function createCountingLaw(db: Database, truth: Truth): { check(): void } {
  db.exec(WATCH)
  const news = db.prepare<[number], Uncounted>('SELECT * FROM uncounted WHERE n > ? ORDER BY n')
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
      for (const { n, run_id, fence } of news.all(last)) {
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
