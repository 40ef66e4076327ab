import type { Database } from 'better-sqlite3'

/** Rows looked at for every row that may be deleted: what one call costs stays bounded. */
const LOOKED_AT_PER_LIMIT = 4

export const ROWS_FROM = `
  SELECT id, status, attempt, created_at AS createdAt, finished_at AS finishedAt FROM run
   WHERE id > ? ORDER BY id LIMIT ?`
/** What it gave may still be asked for, by a step that has not begun. */
export const IS_OF_LIVE_FLOW = `
  SELECT 1 FROM step JOIN flow ON flow.run_id = flow_id
   WHERE step.run_id = ? AND flow.ended_at IS NULL LIMIT 1`
export const DELETE_RUN = `DELETE FROM run WHERE id = ?`
export const DELETE_LOG = `DELETE FROM log_chunk WHERE run_id = ?`
export const DELETE_FLOW = `DELETE FROM flow WHERE run_id = ?`
/** A flow may have very many. */
export const DELETE_STEPS = `
  DELETE FROM step WHERE flow_id = :flowId AND (step, item) IN (
    SELECT step, item FROM step WHERE flow_id = :flowId LIMIT :limit)`
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
 * Ids are in time order, so what is old enough is at the low end. One pass walks up from there over
 * many calls and ends where everything is younger; rows that stay are met once a pass, not per call.
 */
export function preparePrune(db: Database): Prune {
  const rowsFrom = db.prepare<[number, number], AgedRow>(ROWS_FROM)
  const isOfLiveFlow = db.prepare<[number], number>(IS_OF_LIVE_FLOW).pluck()
  const deleteRun = db.prepare(DELETE_RUN)
  const deleteAttempts = db.prepare(DELETE_ATTEMPTS)
  const deleteLog = db.prepare(DELETE_LOG)
  const deleteFlow = db.prepare(DELETE_FLOW)
  const deleteSteps = db.prepare<[object]>(DELETE_STEPS)
  let cursor = -1

  return ({ endedBefore, limit }) => {
    const lookAt = limit * LOOKED_AT_PER_LIMIT
    const rows = rowsFrom.all(cursor, lookAt)
    let deleted = 0
    for (const row of rows) {
      const isOver = row.finishedAt !== null && row.finishedAt < endedBefore
      const isOld = isOver && isOfLiveFlow.get(row.id) === undefined
      if (isOld) deleted += deleteSteps.run({ flowId: row.id, limit: limit - deleted }).changes
      if (deleted === limit) return { more: true }
      cursor = row.id
      if (!isOld) continue
      deleteFlow.run(row.id)
      deleteRun.run(row.id)
      deleteLog.run(row.id)
      if (row.attempt > 1) deleteAttempts.run(row.id)
      deleted += 1
    }
    const more = rows.length === lookAt && rows.some(({ createdAt }) => createdAt < endedBefore)
    if (!more) cursor = -1
    return { more }
  }
}
