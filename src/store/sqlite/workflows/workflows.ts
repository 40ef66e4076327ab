import type { Database } from 'better-sqlite3'
import { STATE_CODE } from '../../../core/run/run-state.ts'
import { sortSignals } from '../../signals.ts'
import {
  type AdvanceResult,
  type WorkflowBatch,
  type WorkflowTransition,
  type WorkflowRevision,
  type WorkflowStore,
  StoreError,
} from '../../port.ts'
import type { Gates } from '../gates/admit.ts'
import type { Audit } from '../audit/audit.ts'
import { FINISH } from '../ticks/end.ts'
import { type BeginWorkflows, prepareBeginWorkflows } from './begin-workflows.ts'
import type { Keys } from '../ticks/submit-keys.ts'
import type { Needs } from '../ticks/needs.ts'
import { prepareEmitSignals } from '../signals/emit-signals.ts'
import { prepareRecordOutboxEvents } from '../webhooks/outbox.ts'
import { prepareSteps } from './steps.ts'
import { byRankAndId, prepareSubmits, type Submits } from '../ticks/submit.ts'
import { ascending, parseGateIds, startTick, type TickState } from '../tick-state/tick-state.ts'

export const ADVANCE_WORKFLOWS = `
  UPDATE flow SET revision = revision + 1, node = ?, look_at = ?, ended_at = ?
   WHERE run_id = ? AND revision = ? AND ended_at IS NULL`
export const FIND_HELD = `
  SELECT project_id AS projectId, gates, dedupe_key AS dedupeKey FROM run WHERE id = ?`
export const DUE_WORKFLOWS = `
  SELECT run_id AS runId, revision FROM flow WHERE look_at <= ? ORDER BY look_at LIMIT ?`
export const UNPROCESSED_WORKFLOWS = `SELECT flow_id FROM step WHERE told_at <= ? ORDER BY told_at`
export const PLACE_OF = `SELECT run_id AS runId, revision FROM flow WHERE run_id = ?`

type Input<Name extends keyof WorkflowStore> = Parameters<WorkflowStore[Name]>[0]

interface Held {
  readonly projectId: number
  readonly gates: string | null
  readonly dedupeKey: string | null
}

export interface WorkflowOperations {
  readonly beginWorkflows: BeginWorkflows
  advanceWorkflows(batch: WorkflowBatch, now: number): AdvanceResult
  dirtyWorkflows(input: Input<'dirtyWorkflows'>, now: number): WorkflowRevision[]
}

export function prepareWorkflows(
  db: Database,
  { audit, ...parts }: { gates: Gates; keys: Keys; needs: Needs; audit: Audit },
): WorkflowOperations {
  const { gates, keys } = parts
  const advance = db.prepare(ADVANCE_WORKFLOWS)
  const findHeld = db.prepare<[number], Held>(FIND_HELD)
  const finish = db.prepare(FINISH)
  const steps = prepareSteps(db)
  const submits = prepareSubmits(db, parts)
  const recordOutboxEvents = prepareRecordOutboxEvents(db)
  const emitSignals = prepareEmitSignals(db)

  const close = ({ runId, end }: WorkflowTransition, tick: TickState) => {
    if (!end) return
    const { projectId, gates: held, dedupeKey } = findHeld.get(runId) as Held
    const { state, cause, message, result } = end
    finish.run(STATE_CODE[state], tick.now, cause, null, message, result, null, runId)
    gates.release(parseGateIds(held), tick)
    if (dedupeKey !== null) keys.release(projectId, dedupeKey, runId)
  }

  const transition = (one: WorkflowTransition, tick: TickState): boolean => {
    const { runId, revision, checkAt, end } = one
    const endedAt = end ? tick.now : null
    const { changes } = advance.run(tick.node, end ? null : checkAt, endedAt, runId, revision)
    if (changes === 0) return false
    steps.write(one, tick.now)
    close(one, tick)
    if (one.audit) audit(one.audit, tick.now)
    return true
  }

  return {
    beginWorkflows: prepareBeginWorkflows(db),
    dirtyWorkflows: prepareDirty(db),
    advanceWorkflows({ node, transitions }, now) {
      const tick = startTick(now, node)
      const moved = new Set<number>()
      const made = transitions.map(
        (one) => !moved.has(one.runId) && transition(one, tick) && !!moved.add(one.runId),
      )
      const advanced = transitions.filter((_, index) => made[index])
      const ended = advanced.flatMap(({ runId, end }) => (end ? [runId] : []))
      const started = startRuns(advanced, tick, submits)
      recordOutboxEvents(() => ended, now)
      emitSignals(() => ended, tick)
      gates.admitTouched(tick)
      return {
        now,
        verdicts: made.map((isMade) => (isMade ? 'advanced' : 'behind')),
        started,
        lanes: ascending(tick.refilled),
        nextDueAt: tick.nextDueAt,
        signals: sortSignals(tick.signals),
      }
    },
  }
}

/** Inserts the runs that the transitions start. Returns the runs that were directly assigned to a session. */
function startRuns(
  transitions: readonly WorkflowTransition[],
  tick: TickState,
  submits: Submits,
): number[] {
  const started: number[] = []
  const runs = transitions.flatMap(({ starts }) => starts.map(({ run }) => run)).sort(byRankAndId)
  const verdicts = submits(runs, tick, true)
  for (const [index, { id, laneId, dueAt, reservation }] of runs.entries()) {
    const kind = verdicts[index]?.kind
    const isReady = kind === 'inserted' && (dueAt === null || dueAt <= tick.now)
    if (isReady && reservation) started.push(id)
    else if (isReady) tick.refilled.add(laneId)
    else if (kind !== 'inserted' && kind !== 'gated') {
      throw new StoreError('refused', `run ${id} already exists: ${kind}`)
    }
  }
  return started
}

function prepareDirty(db: Database): WorkflowOperations['dirtyWorkflows'] {
  const due = db.prepare<[number, number], WorkflowRevision>(DUE_WORKFLOWS)
  const emitted = db.prepare<[number], number>(UNPROCESSED_WORKFLOWS).pluck()
  const findRevision = db.prepare<[number], WorkflowRevision>(PLACE_OF)

  return ({ limit, olderThanMs }, now) => {
    const revisions = new Map(due.all(now, limit).map((place) => [place.runId, place]))
    // Each workflow once, however many of its steps have ended.
    for (const workflowId of revisions.size < limit ? emitted.iterate(now - olderThanMs) : []) {
      if (revisions.size === limit) break
      const place = revisions.has(workflowId) ? undefined : findRevision.get(workflowId)
      if (place) revisions.set(workflowId, place)
    }
    return [...revisions.values()]
  }
}
