import type { Database } from 'better-sqlite3'
import { type Cause, type RunState, stateOfCode } from '../../src/core/run/run-state.ts'

/** One change of state, in the order in which the changes were made. `from` is null for a new run. */
export interface TraceRow {
  readonly runId: number
  readonly from: RunState | null
  readonly to: RunState
  readonly attempt: number
  readonly cause: Cause | null
}

/**
 * Adds triggers that record every change of a run's state, by any statement. A `lasting` trace is stored in the
 * file and sees every connection; otherwise it sees only this connection and leaves the file unchanged.
 */
export function installTrace(db: Database, options: { lasting?: boolean } = {}): void {
  const { lasting = false } = options
  const kind = lasting ? '' : 'TEMP'
  const note = (from: string) =>
    `INSERT INTO trace (run_id, from_state, to_state, attempt, cause)
     VALUES (NEW.id, ${from}, NEW.status, NEW.attempt, NEW.cause);`
  db.exec(`
    CREATE ${kind} TABLE IF NOT EXISTS trace (
      seq INTEGER PRIMARY KEY, run_id INTEGER NOT NULL, from_state INTEGER,
      to_state INTEGER NOT NULL, attempt INTEGER NOT NULL, cause TEXT);
    CREATE ${kind} TRIGGER IF NOT EXISTS trace_new AFTER INSERT ON run
      BEGIN ${note('NULL')} END;
    CREATE ${kind} TRIGGER IF NOT EXISTS trace_change AFTER UPDATE OF status ON run
      WHEN OLD.status <> NEW.status BEGIN ${note('OLD.status')} END;`)
}

/** All recorded changes after `after` (0 by default), oldest first. */
export function readTrace(db: Database, after = 0): TraceRow[] {
  const rows = db
    .prepare<[number], StoredRow>(
      `SELECT run_id AS runId, from_state AS "from", to_state AS "to", attempt, cause
         FROM trace WHERE seq > ? ORDER BY seq`,
    )
    .all(after)
  return rows.map(({ runId, from, to, attempt, cause }) => ({
    runId,
    from: from === null ? null : stateOfCode(from),
    to: stateOfCode(to),
    attempt,
    cause: cause as Cause | null,
  }))
}

interface StoredRow {
  readonly runId: number
  readonly from: number | null
  readonly to: number
  readonly attempt: number
  readonly cause: string | null
}
