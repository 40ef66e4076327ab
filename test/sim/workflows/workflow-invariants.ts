import type { Database } from 'better-sqlite3'
import { possibleStops } from '../../workflows/expected-outcomes.ts'
import { nextActions } from '../../workflows/naive-evaluator.ts'
import type { DrawnWorkflow } from './draw-workflow.ts'
import { createWorkflowTracker, type WorkflowTracker } from './workflow-tracker.ts'
import { createStepInvariants } from './step-invariants.ts'
import type { WorkflowTruth, ObservedStart } from './workflow-truth.ts'
import { type RunSeen, type SeenEvent, watchWorkflows } from './watch-workflows.ts'
import { createFollowerInvariants } from './follower-invariants.ts'
import { createOverdueTracker } from './patience.ts'
import { createWaveInvariants } from './wave-invariants.ts'

/** Without faults, every transition that follows from an event happens within this (I20). */
const SOON_MS = 2_000
const FINAL = 4

/** A run holds its gates while it is ready or running. */
const COUNT_HOLDERS = `
  SELECT count(*) FROM run r, json_each(r.gates) gate WHERE r.status IN (0, 1) AND gate.value = g.id`

/** Checked after every move, directly on the rows. */
const INVARIANTS: readonly (readonly [invariant: string, sql: string])[] = [
  [
    'a gate holds more than its capacity',
    `SELECT 'gate ' || g.name FROM gate g WHERE (${COUNT_HOLDERS}) > g.capacity`,
  ],
  [
    'the count of a gate is not that of the runs that hold it',
    `SELECT 'gate ' || g.name || ' counts ' || g.held FROM gate g WHERE g.held <> (${COUNT_HOLDERS})`,
  ],
  [
    'I20 a workflow and its run end together',
    `SELECT 'workflow ' || run.id FROM flow JOIN run ON run.id = flow.run_id
      WHERE (ended_at IS NULL) <> (status < ${FINAL})`,
  ],
  [
    'I17 an open workflow without a next check',
    `SELECT 'workflow ' || run_id FROM flow
      WHERE ended_at IS NULL AND look_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM step WHERE flow_id = flow.run_id
                            AND (state IN (1, 3) OR told_at IS NOT NULL))`,
  ],
]
/** Workflows and runs that wait although nothing is before them. */
const IDLE = `
  SELECT 'workflow ' || run.id || ' is ready' AS claim FROM run JOIN lane ON lane.id = run.lane_id
   WHERE run.status = 0 AND lane.executor = 'workflow'
   UNION ALL
  SELECT 'run ' || r.id || ' waits at gates with room' FROM run r
   WHERE r.status = 3 AND r.gate_id IS NOT NULL AND NOT EXISTS (
     SELECT 1 FROM json_each(r.gates) held JOIN gate g ON g.id = held.value
      WHERE g.held >= g.capacity)`

export interface WorkflowInvariants {
  readonly tracker: WorkflowTracker
  readonly followers: number
  /** Checks all events since the last call, in their order. */
  check(): void
  /** The same, and that no possible transition is outstanding. */
  checkCalm(): void
}

export function createWorkflowInvariants(
  db: Database,
  drawn: readonly DrawnWorkflow[],
  truth: WorkflowTruth,
  context: {
    nowMs(): number
    storeNow(): number
    violate(invariant: string, detail: string): void
  },
): WorkflowInvariants {
  const { violate, storeNow } = context
  const newRows = watchWorkflows(db, { next: truth.next, nowMs: context.nowMs })
  const tracker = createWorkflowTracker(db, drawn)
  const workflows = createStepInvariants(tracker, truth, violate)
  const waves = createWaveInvariants(tracker, violate)
  const followers = createFollowerInvariants(violate)
  const invariants = INVARIANTS.map(
    ([invariant, sql]) => [invariant, db.prepare<[], string>(sql).pluck()] as const,
  )
  const idle = db.prepare<[], string>(IDLE).pluck()
  const patience = createOverdueTracker(SOON_MS)
  const endedRuns = new Set<number>()
  let started = 0

  const run = (seen: RunSeen) => {
    followers.run(seen)
    if (seen.is_now < FINAL) return
    endedRuns.add(seen.run_id)
    const tracked = tracker.all.get(seen.run_id)
    if (!tracked || tracked.isEnded) return
    tracked.isEnded = true
    workflows.ended(tracked, storeNow())
  }

  const start = (event: ObservedStart) => {
    // A worker froze after the grant and started an ended run: fencing handles this, and other invariants check
    // fencing.
    if (endedRuns.has(event.runId)) return
    if (event.work) workflows.started(event, event.work)
    else followers.started(event.runId)
  }

  const see = (event: SeenEvent | (ObservedStart & { readonly kind: 'start' })) => {
    switch (event.kind) {
      case 'start':
        return start(event)
      case 'step':
        return workflows.stepChanged(event)
      case 'flow':
        return waves.began(tracker.begin(event.flow_id))
      case 'need':
        return followers.need(event)
      case 'run':
        return run(event)
    }
  }

  const check = () => {
    const starts = truth.starts
      .slice(started)
      .map((event) => ({ ...event, kind: 'start' as const }))
    started = truth.starts.length
    for (const event of [...newRows(), ...starts].toSorted((a, b) => a.n - b.n)) see(event)
    for (const [invariant, statement] of invariants) {
      for (const detail of statement.all()) violate(invariant, detail)
    }
  }

  /** Outstanding transitions of workflows, as sentences. */
  const undone = () =>
    tracker.open().flatMap(({ workflowId, facts, drawn: { steps } }) => {
      const { isCancelling, deadline } = tracker.ask(workflowId)
      const isLate = (deadline ?? Infinity) <= storeNow()
      const stop = possibleStops(facts, { isCancelled: isCancelling === 1, isLate }).at(-1) ?? null
      const known = { steps, facts, asked: new Set<string>(), stop }
      return [...nextActions(known)].map((what) => `workflow ${workflowId}: ${what}`)
    })

  return {
    tracker,
    get followers() {
      return followers.count
    },
    check,
    checkCalm() {
      check()
      const claims = [...undone(), ...followers.neglected(), ...idle.all()]
      for (const claim of patience.overdue(claims, context.nowMs())) {
        violate(`I20 what follows is done within ${SOON_MS} ms`, claim)
      }
    },
  }
}
