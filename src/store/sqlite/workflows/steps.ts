import type { Database } from 'better-sqlite3'
import { STEP_CODE } from '../../../core/run/step-state.ts'
import { isFinal } from '../../../core/run/run-state.ts'
import { type WorkflowTransition, StoreError } from '../../port.ts'

/** An existing step was started already: then the whole batch is refused. */
export const START_STEP = `
  INSERT INTO step (flow_id, step, item, state, run_id, started_at) VALUES (?, ?, ?, 1, ?, ?)`
export const MARK_STEP = `
  INSERT INTO step (flow_id, step, item, state, run_id, started_at, finished_at, due_at, count,
                    reason, message, detail)
  VALUES (:workflowId, :step, :item, :state, :runId, :now, :finishedAt, :dueAt, :count,
          :reason, :message, :detail)
      ON CONFLICT (flow_id, step, item) DO UPDATE
     SET state = excluded.state, run_id = excluded.run_id, told_at = NULL,
         finished_at = excluded.finished_at, due_at = excluded.due_at, count = excluded.count,
         reason = excluded.reason, message = excluded.message, detail = excluded.detail
   WHERE step.run_id IS NULL OR step.state <> 1`
export const PROCESS_STEP = `
  UPDATE step SET told_at = NULL WHERE flow_id = ? AND step = ? AND item = ?`

/**
 * No transition follows the end of a workflow, so its unprocessed steps need no more processing.
 */
export const PROCESS_ALL = `UPDATE step SET told_at = NULL WHERE flow_id = ? AND told_at IS NOT NULL`

export interface Steps {
  /** Writes the step changes of a transition. */
  write(transition: WorkflowTransition, now: number): void
}

export function prepareSteps(db: Database): Steps {
  const start = db.prepare(START_STEP)
  const mark = db.prepare<[object]>(MARK_STEP)
  const processStep = db.prepare(PROCESS_STEP)
  const processAll = db.prepare(PROCESS_ALL)

  return {
    write({ runId: workflowId, processed, starts, marks, end }, now) {
      for (const { step, item } of processed) processStep.run(workflowId, step, item)
      for (const one of marks) {
        const { state } = one
        const isOver = state !== 'running' && state !== 'waiting' && isFinal(state)
        const finishedAt = isOver ? now : null
        const row = { ...one, workflowId, now, state: STEP_CODE[state], finishedAt }
        if (mark.run(row).changes === 0)
          throw new StoreError('refused', 'the run of a step is under way')
      }
      for (const { step, item, run } of starts) start.run(workflowId, step, item, run.id, now)
      if (end) processAll.run(workflowId)
    },
  }
}
