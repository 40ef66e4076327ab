import type { Database } from 'better-sqlite3'
import { type FinalState, isFinal, stateOfCode } from '../../../core/run/run-state.ts'
import type { CancelCommand, CancelVerdict } from '../../port.ts'
import type { Gates } from '../gates/admit.ts'
import { prepareAudit } from '../audit/audit.ts'
import type { Keys } from './submit-keys.ts'
import type { Needs } from './needs.ts'
import { parseGateIds, type TickState } from '../tick-state/tick-state.ts'

export const FIND_TO_CANCEL = `
  SELECT status, node, cancelling, gates, dedupe_key AS dedupeKey
    FROM run WHERE id = ? AND project_id = ?`
export const MARK_CANCELLING = `UPDATE run SET cancelling = 1 WHERE id = ? AND status = 1`
/** The new revision makes every transition that was decided without the cancel `behind`. */
export const MARK_WORKFLOW_DIRTY = `
  UPDATE flow SET revision = revision + 1, look_at = ? WHERE run_id = ? AND ended_at IS NULL`
export const NODE_OF_WORKFLOW = `SELECT node FROM flow WHERE run_id = ?`
export const CANCEL_WAITING = `
  UPDATE run SET status = 6, cause = 'cancelled', finished_at = ?,
         timer_at = NULL, gate_id = NULL, recheck_at = NULL
   WHERE id = ?`

interface Found {
  readonly status: number
  /** Null for a workflow. */
  readonly node: number | null
  readonly cancelling: number
  readonly gates: string | null
  readonly dedupeKey: string | null
}

export type Cancel = (command: CancelCommand, tick: TickState) => CancelVerdict

export function prepareCancel(
  db: Database,
  { gates, keys, needs }: { gates: Gates; keys: Keys; needs: Needs },
): Cancel {
  const audit = prepareAudit(db)
  const find = db.prepare<[number, number], Found>(FIND_TO_CANCEL)
  const mark = db.prepare(MARK_CANCELLING)
  const markWorkflowDirty = db.prepare(MARK_WORKFLOW_DIRTY)
  const nodeOfWorkflow = db.prepare<[number], number>(NODE_OF_WORKFLOW).pluck()
  const cancelWaiting = db.prepare(CANCEL_WAITING)

  const markWorkflow = (workflowId: number, run: Found, tick: TickState): CancelVerdict => {
    if (run.cancelling === 0) {
      markWorkflowDirty.run(tick.now, workflowId)
      tick.signals.push({ kind: 'cancel', workflowId })
    }
    return { kind: 'marked', node: nodeOfWorkflow.get(workflowId) as number }
  }

  return ({ runId, projectId, audit: entry }, tick) => {
    const run = find.get(runId, projectId)
    if (!run) return { kind: 'unknown' }
    const state = stateOfCode(run.status)
    if (isFinal(state)) return { kind: 'final', state: state satisfies FinalState }
    if (entry) audit(entry, tick.now)
    if (state === 'running') {
      mark.run(runId)
      if (run.node === null) return markWorkflow(runId, run, tick)
      return { kind: 'marked', node: run.node }
    }
    cancelWaiting.run(tick.now, runId)
    if (state === 'blocked') needs.forget(runId)
    if (state === 'ready') gates.release(parseGateIds(run.gates), tick)
    if (run.dedupeKey !== null) keys.release(projectId, run.dedupeKey, runId)
    return { kind: 'cancelled' }
  }
}
