import type { Database } from 'better-sqlite3'
import { ascending, type TickState } from '../tick-state/tick-state.ts'

/** The cost of an end when no job follows another. */
export const ANY_FOLLOWERS = `SELECT 1 FROM follower LIMIT 1`
/** A step of a workflow counts only for follow rules that name that step. */
export const RECORD_FOLLOW_UPS = `
  INSERT INTO follow_up (source_run_id, job_id, project_id, source_job_id, state, at)
  SELECT run.id, follower.job_id, run.project_id, run.job_id, run.status, :now
    FROM run JOIN follower ON source_id = run.job_id
   WHERE run.id = :runId AND run.status >= 4
     AND (wants = 'any' OR (wants = 'ok') = (run.status = 4))
     AND (cause_id <> source_id OR NOT EXISTS (SELECT 1 FROM step WHERE step.run_id = run.id))`

/** Records which jobs are to run after these runs; the rows say which of them have ended. */
export type RecordFollowUps = (runIds: () => Iterable<number>, tick: TickState) => void

export function prepareRecordFollowUps(db: Database): RecordFollowUps {
  const anyFollowers = db.prepare(ANY_FOLLOWERS)
  const note = db.prepare<[object]>(RECORD_FOLLOW_UPS)
  return (runIds, { now, signals }) => {
    if (anyFollowers.get() === undefined) return
    for (const runId of ascending(runIds())) {
      if (note.run({ runId, now }).changes > 0) signals.push({ kind: 'followed', runId })
    }
  }
}
