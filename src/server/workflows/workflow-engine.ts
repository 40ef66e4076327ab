import type { Clock } from '../../core/clock.ts'
import type { Signal, SweepStore } from '../../store/port.ts'
import { RECHECK_PERIOD_MS } from '../dispatch/recheck.ts'
import type { LoopOutcome } from '../loops/run-loop.ts'
import { prepareTransition, type TransitionDeps } from './prepare-transition.ts'
import { createRefusedWorkflows } from './refused-workflows.ts'
import { createSignalReceiver, type SignalReceiverDeps } from './signal-receiver.ts'
import { createStepRequests, type StepRequest } from './step-requests.ts'
import { createStopNotifier, type StopNotifierDeps } from './stop-notifier.ts'
import { SWEEP_MS } from './sweep-timer.ts'
import {
  createTransitionWriter,
  type PendingTransition,
  type TransitionWriterDeps,
} from './transition-writer.ts'
import { createWorkflowAgenda } from './workflow-agenda.ts'
import { createWorkflowFinder, type WorkflowFinderDeps } from './workflow-finder.ts'

/** Workflows that are advanced at once. */
const AT_ONCE = 50
/** Steps written in one transaction: others wait for it no longer than for a large tick. */
const STEPS_AT_ONCE = 1_000
const RELEASE = 500

export interface WorkflowEngineDeps
  extends
    WorkflowFinderDeps,
    TransitionDeps,
    TransitionWriterDeps,
    SignalReceiverDeps,
    StopNotifierDeps {
  readonly store: WorkflowFinderDeps['store'] &
    TransitionDeps['store'] &
    TransitionWriterDeps['store'] &
    Pick<SweepStore, 'recheck'>
  readonly clock: Pick<Clock, 'sleep' | 'mono'>
  /** Whether this node is in contact with the store: only then may it use its ids and its clock. */
  mayAdvance(): boolean
}

export interface WorkflowEngine {
  /**
   * Begins ready workflows and advances those with signals, as many as fit into one transaction.
   */
  step(): Promise<LoopOutcome>
  /** Signals that this node has written. */
  receiveSignals(signals: readonly Signal[]): void
  /** A workflow run may wait in this lane. */
  ready(laneId: number): void
  /**
   * Applies a user's decision about a step. Resolves when it is written, and rejects after a
   * timeout. After the timeout, or when `disconnected` aborts, it is not tried again.
   */
  decide(runId: number, request: StepRequest, gone?: AbortSignal): Promise<void>
  /** The node was out of contact with the store: everything in memory is discarded. */
  forget(): void
}

/**
 * Advances workflows, whichever node began them. The state of a workflow is in the store, and a
 * transition is a compare-and-set: when several nodes try, one succeeds and the others read again.
 * Memory only saves reads.
 */
export function createWorkflowEngine(deps: WorkflowEngineDeps): WorkflowEngine {
  const { store, clock } = deps
  const agenda = createWorkflowAgenda(clock)
  const { cache, toBegin, toRelease } = agenda
  const requests = createStepRequests(clock)
  const refusals = createRefusedWorkflows(clock.mono)
  const receiveSignals = createSignalReceiver(agenda, deps)
  const writer = createTransitionWriter({ agenda, requests, refusals, receiveSignals }, deps)
  const finder = createWorkflowFinder({ agenda, requests, refusals, writer }, deps)
  const stopping = createStopNotifier(deps)

  /** Writes the next transition of some workflows with something to do. */
  const advance = async (): Promise<void> => {
    const workflows = cache.takeDirty(AT_ONCE)
    if (workflows.length === 0) return
    const limit = Math.max(1, Math.floor(STEPS_AT_ONCE / workflows.length))
    const transitions = await Promise.all(
      workflows.map(async (workflow): Promise<PendingTransition[]> => {
        try {
          const asked = requests.next(workflow)
          return [{ workflow, made: await prepareTransition(workflow, asked, limit, deps) }]
        } catch (error) {
          // Its state in memory is incomplete. The sweep comes back to it.
          cache.drop(workflow.record.runId)
          deps.onError(error)
          return []
        }
      }),
    )
    await writer.write(transitions.flat())
    for (const workflow of workflows) stopping.note(workflow)
  }

  /** Releases runs that wait for the end of others. */
  const release = async (): Promise<void> => {
    const runs = [...toRelease].slice(0, RELEASE)
    if (runs.length === 0) return
    for (const runId of runs) toRelease.delete(runId)
    writer.announce(await store.recheck({ limit: 0, recheckMs: RECHECK_PERIOD_MS, runs }))
    deps.signals.runsChanged(runs)
  }

  return {
    async step() {
      if (!deps.mayAdvance()) return { more: false, idleMs: SWEEP_MS }
      await finder.sweep()
      await finder.begin()
      await release()
      await finder.read()
      await advance()
      await stopping.notifySome()
      const more = agenda.isBusy || !stopping.isEmpty
      return { more, idleMs: Math.max(1, agenda.sweep.restMs) }
    },
    receiveSignals,
    ready(laneId) {
      toBegin.add(laneId)
      deps.signals.workflowsDue()
    },
    decide(runId, request, gone) {
      agenda.markDirty(runId)
      deps.signals.workflowsDue()
      return requests.add(runId, request, gone)
    },
    forget: agenda.forget,
  }
}
