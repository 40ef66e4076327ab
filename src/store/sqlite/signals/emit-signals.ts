import type { Database } from 'better-sqlite3'
import { type FinalState, stateOfCode } from '../../../core/run/run-state.ts'
import { prepareRecordFollowUps } from './record-follow-ups.ts'
import { ascending, type TickState } from '../tick-state/tick-state.ts'

/** The cost of an end when no workflow is under way and no run waits for another. */
export const ANY_WAITERS = `
  SELECT 1 WHERE EXISTS (SELECT 1 FROM flow WHERE ended_at IS NULL) OR EXISTS (SELECT 1 FROM need)`
export const SIGNAL_STEPS = `
  UPDATE step SET state = run.status, finished_at = run.finished_at,
         told_at = (SELECT :now FROM flow WHERE run_id = flow_id AND ended_at IS NULL)
    FROM run
   WHERE run.id = :runId AND run.status >= 4 AND step.run_id = :runId AND step.state = 1
  RETURNING flow_id AS workflowId, step, item, state`
export const WAITING_FOR = `
  SELECT need.run_id FROM need JOIN run ON run.id = needed_id
   WHERE needed_id = ? AND run.status >= 4`

interface SignalledStep {
  readonly workflowId: number
  readonly step: number
  readonly item: number
  readonly state: number
}

/**
 * Emits signals for runs and workflows that wait for these runs; the rows say which of them have
 * ended.
 */
export type EmitSignals = (runIds: () => Iterable<number>, tick: TickState) => void

export function prepareEmitSignals(db: Database): EmitSignals {
  const anyWaiters = db.prepare(ANY_WAITERS)
  const signalSteps = db.prepare<[object], SignalledStep>(SIGNAL_STEPS)
  const recordFollowUps = prepareRecordFollowUps(db)
  const waitingFor = db.prepare<[number], number>(WAITING_FOR).pluck()

  return (runIds, tick) => {
    const { now, signals } = tick
    recordFollowUps(runIds, tick)
    if (anyWaiters.get() === undefined) return
    for (const runId of ascending(runIds())) {
      for (const { state, ...step } of signalSteps.all({ runId, now })) {
        signals.push({ kind: 'step', ...step, state: stateOfCode(state) as FinalState })
      }
      for (const waiting of waitingFor.all(runId)) signals.push({ kind: 'need', runId: waiting })
    }
  }
}
