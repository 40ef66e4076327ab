import type { Database } from 'better-sqlite3'
import { evaluateNeeds, type Need, type NeedState } from '../../../core/run/needs.ts'
import { isFinal, stateOfCode } from '../../../core/run/run-state.ts'
import type { NewRun } from '../../port.ts'
import { FIRST_RECHECK_MS } from '../gates/admit.ts'
import type { Keys } from './submit-keys.ts'
import { trackNextDue, parseGateIds, type TickState } from '../tick-state/tick-state.ts'

/** How soon a run is rechecked whose needs may have ended while it was submitted. */
export const NEEDS_RECHECK_MS = 1_000

export const IS_KNOWN = `SELECT 1 FROM run WHERE id = ? AND project_id = ?`
export const ADD_NEED = `
  INSERT INTO need (run_id, needed_id, wants) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`
export const NEEDS_OF = `
  SELECT needed_id AS runId, wants FROM need WHERE run_id = ? ORDER BY needed_id, wants`
export const FORGET_NEEDS = `DELETE FROM need WHERE run_id = ?`
export const STATUS_OF = `SELECT status FROM run WHERE id = ?`
export const FIND_WAITING = `
  SELECT project_id AS projectId, lane_id AS laneId, due_at AS dueAt, gates, dedupe_key AS dedupeKey
    FROM run WHERE id = ? AND status = 3 AND gate_id IS NULL`
export const RELEASE_TO_READY = `UPDATE run SET status = 0, recheck_at = NULL WHERE id = ?`
export const RELEASE_TO_TIMER = `UPDATE run SET status = 2, timer_at = ?, recheck_at = NULL WHERE id = ?`
export const TO_GATE = `UPDATE run SET gate_id = ?, recheck_at = ? WHERE id = ?`
export const SKIP = `
  UPDATE run SET status = 7, finished_at = ?, message = ?, recheck_at = NULL WHERE id = ?`

interface Waiting {
  readonly projectId: number
  readonly laneId: number
  readonly dueAt: number | null
  readonly gates: string | null
  readonly dedupeKey: string | null
}

/** Runs that start after other runs. */
export interface Needs {
  /** A run it is to start after that does not exist in its project. */
  findUnknown(run: NewRun): number | undefined
  take(run: NewRun, tick: TickState): void
  /** Releases or skips a run if its needs have ended; true if that ended the run. */
  settle(runId: number, tick: TickState): boolean
  /** Deletes the needs of a run that no longer waits. */
  forget(runId: number): void
}

export function prepareNeeds(db: Database, keys: Keys): Needs {
  const isKnown = db.prepare<[number, number]>(IS_KNOWN)
  const add = db.prepare(ADD_NEED)
  const needsOf = db.prepare<[number], Need>(NEEDS_OF)
  const forget = db.prepare(FORGET_NEEDS)
  const statusOf = db.prepare<[number], number>(STATUS_OF).pluck()
  const find = db.prepare<[number], Waiting>(FIND_WAITING)
  const toReady = db.prepare(RELEASE_TO_READY)
  const toTimer = db.prepare(RELEASE_TO_TIMER)
  const toGate = db.prepare(TO_GATE)
  const skip = db.prepare(SKIP)

  const stateOf = (runId: number): NeedState => {
    const status = statusOf.get(runId)
    if (status === undefined) return undefined
    const state = stateOfCode(status)
    return isFinal(state) ? state : null
  }

  const release = (runId: number, { laneId, dueAt, gates }: Waiting, tick: TickState) => {
    const [gate] = parseGateIds(gates)
    if (dueAt !== null && dueAt > tick.now) {
      toTimer.run(dueAt, runId)
      trackNextDue(tick, dueAt)
    } else if (gate === undefined) {
      toReady.run(runId)
      tick.refilled.add(laneId)
    } else {
      toGate.run(gate, tick.now + FIRST_RECHECK_MS, runId)
      tick.touched.add(gate)
    }
  }

  return {
    findUnknown: ({ after = [], projectId }) =>
      after.find(({ runId }) => isKnown.get(runId, projectId) === undefined)?.runId,
    take({ id, after = [] }, { signals }) {
      for (const { runId, wants } of after) add.run(id, runId, wants)
      signals.push({ kind: 'need', runId: id })
    },
    settle(runId, tick) {
      const run = find.get(runId)
      if (!run) return false
      const verdict = evaluateNeeds(needsOf.all(runId), stateOf)
      if (verdict.kind === 'waits') return false
      forget.run(runId)
      if (verdict.kind === 'released') release(runId, run, tick)
      if (verdict.kind !== 'skipped') return false
      skip.run(tick.now, verdict.message, runId)
      if (run.dedupeKey !== null) keys.release(run.projectId, run.dedupeKey, runId)
      return true
    },
    forget(runId) {
      forget.run(runId)
    },
  }
}
