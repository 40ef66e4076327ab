import type { Database } from 'better-sqlite3'
import { ascending, type TickState } from '../tick-state/tick-state.ts'

/** Where no job follows another, an end costs no more than this. */
export const ANYONE_FOLLOWS = `SELECT 1 FROM follower LIMIT 1`
/** What is part of a workflow belongs to that, and counts only for those who asked for it by name. */
export const NOTE_FOLLOWED = `
  INSERT INTO follow_up (source_run_id, job_id, project_id, source_job_id, state, at)
  SELECT run.id, follower.job_id, run.project_id, run.job_id, run.status, :now
    FROM run JOIN follower ON source_id = run.job_id
   WHERE run.id = :runId AND run.status >= 4
     AND (wants = 'any' OR (wants = 'ok') = (run.status = 4))
     AND (cause_id <> source_id OR NOT EXISTS (SELECT 1 FROM step WHERE step.run_id = run.id))`

/** Writes down which jobs are to run after these runs; which of them have ended, their rows say. */
export type NoteFollowed = (runIds: () => Iterable<number>, tick: TickState) => void

export function prepareNoteFollowed(db: Database): NoteFollowed {
  const anyoneFollows = db.prepare(ANYONE_FOLLOWS)
  const note = db.prepare<[object]>(NOTE_FOLLOWED)
  return (runIds, { now, news }) => {
    if (anyoneFollows.get() === undefined) return
    for (const runId of ascending(runIds())) {
      if (note.run({ runId, now }).changes > 0) news.push({ kind: 'followed', runId })
    }
  }
}
