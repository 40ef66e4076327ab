import type { Database } from 'better-sqlite3'
import { STEP_CODE } from '../../../core/run/step-state.ts'
import { isFinal } from '../../../core/run/run-state.ts'
import { type FlowMove, StoreError } from '../../port.ts'

/** A step that is there already has been started: then nothing of the batch happens. */
export const START_STEP = `
  INSERT INTO step (flow_id, step, item, state, run_id, started_at) VALUES (?, ?, ?, 1, ?, ?)`
export const MARK_STEP = `
  INSERT INTO step (flow_id, step, item, state, run_id, started_at, finished_at, due_at, count,
                    reason, message, detail)
  VALUES (:flowId, :step, :item, :state, :runId, :now, :finishedAt, :dueAt, :count,
          :reason, :message, :detail)
      ON CONFLICT (flow_id, step, item) DO UPDATE
     SET state = excluded.state, run_id = excluded.run_id, told_at = NULL,
         finished_at = excluded.finished_at, due_at = excluded.due_at, count = excluded.count,
         reason = excluded.reason, message = excluded.message, detail = excluded.detail
   WHERE step.run_id IS NULL OR step.state <> 1`
export const HEAR_STEP = `
  UPDATE step SET told_at = NULL WHERE flow_id = ? AND step = ? AND item = ?`

/** Nobody goes on with a flow that is over, and what ended last need not be heard. */
export const HEAR_ALL = `UPDATE step SET told_at = NULL WHERE flow_id = ? AND told_at IS NOT NULL`

export interface Steps {
  /** Writes down what a move says about steps. */
  write(move: FlowMove, now: number): void
}

export function prepareSteps(db: Database): Steps {
  const start = db.prepare(START_STEP)
  const mark = db.prepare<[object]>(MARK_STEP)
  const hear = db.prepare(HEAR_STEP)
  const hearAll = db.prepare(HEAR_ALL)

  return {
    write({ runId: flowId, heard, starts, marks, end }, now) {
      for (const { step, item } of heard) hear.run(flowId, step, item)
      for (const one of marks) {
        const { state } = one
        const isOver = state !== 'running' && state !== 'waiting' && isFinal(state)
        const finishedAt = isOver ? now : null
        const row = { ...one, flowId, now, state: STEP_CODE[state], finishedAt }
        if (mark.run(row).changes === 0) throw new StoreError('refused', 'a step is under way')
      }
      for (const { step, item, run } of starts) start.run(flowId, step, item, run.id, now)
      if (end) hearAll.run(flowId)
    },
  }
}
