import type { Database } from 'better-sqlite3'
import { prepareRunTags } from '../runs/run-tags.ts'

/** Rows examined for every row that may be deleted: this bounds the cost of one call. */
const EXAMINED_PER_DELETED = 4

export const ROWS_FROM = `
  SELECT id, status, attempt, created_at AS createdAt, finished_at AS finishedAt FROM run
   WHERE id > ? ORDER BY id LIMIT ?`
/** A step that has not begun may still read the result. */
export const IS_OF_LIVE_WORKFLOW = `
  SELECT 1 FROM step JOIN flow ON flow.run_id = flow_id
   WHERE step.run_id = ? AND flow.ended_at IS NULL LIMIT 1`
export const DELETE_RUN = `DELETE FROM run WHERE id = ?`
export const DELETE_LOG = `DELETE FROM log_chunk WHERE run_id = ?`
export const DELETE_WORKFLOW = `DELETE FROM flow WHERE run_id = ?`
/** A workflow may have very many steps. */
export const DELETE_STEPS = `
  DELETE FROM step WHERE flow_id = :workflowId AND (step, item) IN (
    SELECT step, item FROM step WHERE flow_id = :workflowId LIMIT :limit)`
export const DELETE_ATTEMPTS = `DELETE FROM attempt WHERE run_id = ?`

interface AgedRow {
  readonly id: number
  readonly status: number
  readonly attempt: number
  readonly createdAt: number
  readonly finishedAt: number | null
}

export type Prune = (input: { endedBefore: number; limit: number }) => { more: boolean }

/**
 * Ids are in time order, so old runs have the low ids. One pass walks up from there over many calls
 * and ends where all runs are younger; rows that stay are met once a pass, not once a call.
 */
export function preparePrune(db: Database): Prune {
  const rowsFrom = db.prepare<[number, number], AgedRow>(ROWS_FROM)
  const isOfLiveWorkflow = db.prepare<[number], number>(IS_OF_LIVE_WORKFLOW).pluck()
  const deleteRun = db.prepare(DELETE_RUN)
  const deleteAttempts = db.prepare(DELETE_ATTEMPTS)
  const deleteLog = db.prepare(DELETE_LOG)
  const deleteWorkflow = db.prepare(DELETE_WORKFLOW)
  const deleteSteps = db.prepare<[object]>(DELETE_STEPS)
  const runTags = prepareRunTags(db)
  let cursor = -1

  return ({ endedBefore, limit }) => {
    const maxExamined = limit * EXAMINED_PER_DELETED
    const rows = rowsFrom.all(cursor, maxExamined)
    let deleted = 0
    for (const row of rows) {
      const isOver = row.finishedAt !== null && row.finishedAt < endedBefore
      const isOld = isOver && isOfLiveWorkflow.get(row.id) === undefined
      if (isOld) deleted += deleteSteps.run({ workflowId: row.id, limit: limit - deleted }).changes
      if (deleted === limit) return { more: true }
      cursor = row.id
      if (!isOld) continue
      deleteWorkflow.run(row.id)
      runTags.remove(row.id)
      deleteRun.run(row.id)
      deleteLog.run(row.id)
      if (row.attempt > 1) deleteAttempts.run(row.id)
      deleted += 1
    }
    const more =
      rows.length === maxExamined && rows.some(({ createdAt }) => createdAt < endedBefore)
    if (!more) cursor = -1
    return { more }
  }
}
