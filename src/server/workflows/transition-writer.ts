import { sendInHalves } from '../loops/send-in-halves.ts'
import {
  type AdvanceResult,
  StoreError,
  type WorkflowStore,
  type WorkflowTransition,
} from '../../store/port.ts'
import type { AssignDirectly } from '../dispatch/direct-assignment.ts'
import { storeProblem } from '../health/store-problem.ts'
import type { NodeSignals } from '../signals/signals.ts'
import type { LoadedWorkflow } from './loaded-workflow.ts'
import type { UnreadableWorkflow } from './load-workflows.ts'
import type { PreparedTransition } from './prepare-transition.ts'
import type { RefusedWorkflows } from './refused-workflows.ts'
import type { ReceiveSignals } from './signal-receiver.ts'
import type { StepRequests } from './step-requests.ts'
import type { WorkflowAgenda } from './workflow-agenda.ts'

export interface TransitionWriterDeps {
  readonly store: Pick<WorkflowStore, 'advanceWorkflows'>
  node(): number
  /** Assigns steps directly to waiting workers. */
  readonly assignDirectly: AssignDirectly
  readonly signals: NodeSignals
  onError(error: unknown): void
}

/** A transition to be written. */
export interface PendingTransition {
  readonly workflow: LoadedWorkflow | UnreadableWorkflow
  readonly made: PreparedTransition
}

/** Writes transitions of workflows, and gives the runs they start to workers. */
export interface TransitionWriter {
  write(pending: readonly PendingTransition[]): Promise<void>
  /** What a transaction made possible elsewhere. */
  announce(result: Pick<AdvanceResult, 'lanes' | 'nextDueAt' | 'signals'>): void
}

export function createTransitionWriter(
  parts: {
    readonly agenda: WorkflowAgenda
    readonly requests: StepRequests
    readonly refusals: RefusedWorkflows
    readonly receiveSignals: ReceiveSignals
  },
  deps: TransitionWriterDeps,
): TransitionWriter {
  const { agenda, requests, refusals, receiveSignals } = parts

  const announce: TransitionWriter['announce'] = ({ lanes, nextDueAt, signals }) => {
    if (lanes.length > 0) deps.signals.lanesReady(lanes)
    if (nextDueAt !== null) deps.signals.timerWritten(nextDueAt)
    receiveSignals(signals)
  }

  /** Returns the error if the store refuses the transaction as a whole. */
  const send = async (
    transitions: readonly WorkflowTransition[],
  ): Promise<AdvanceResult | StoreError> => {
    const promised = deps.assignDirectly(
      transitions.flatMap(({ starts }) => starts.map(({ run }) => run)),
    )
    const advancing = deps.store.advanceWorkflows({ node: deps.node(), transitions })
    const result = await advancing.catch((error: unknown) => {
      const outcome = error instanceof StoreError ? error.outcome : 'unknown'
      promised.failed(outcome === 'unknown')
      if (outcome === 'refused') return error as StoreError
      // Users learn of a full disk at once, because it may last.
      const problem = storeProblem(error)
      if (problem) for (const { runId } of transitions) requests.fail(runId, problem)
      // Only the store knows whether the transition happened.
      for (const { runId } of transitions) agenda.reread(runId)
      throw error
    })
    if (!(result instanceof StoreError)) void promised.committed(result.started, result.now)
    return result
  }

  const backOff = (runId: number, error: StoreError) => {
    agenda.cache.drop(runId)
    deps.onError(error)
    // The transition contained a user's decision: the workflow may be able to continue without it.
    if (requests.fail(runId)) return void agenda.toRead.add(runId)
    refusals.note(runId, error)
  }

  const apply = (pending: readonly PendingTransition[], result: AdvanceResult) => {
    const changed: number[] = []
    for (const [index, { workflow, made }] of pending.entries()) {
      const { runId, starts, end } = made.move
      if (result.verdicts[index] === 'behind') {
        agenda.reread(runId)
        continue
      }
      refusals.forget(runId)
      for (const { run } of starts) changed.push(run.id)
      if (end) {
        changed.push(runId)
        deps.signals.workflowEnded(runId)
      }
      if (!('problem' in workflow)) noteAdvanced(workflow, made, { agenda, requests })
      if (end) requests.refuse(runId)
    }
    if (changed.length > 0) deps.signals.runsChanged(changed)
    announce(result)
  }

  /** A workflow that the store refuses must not block the others. */
  const write = async (pending: readonly PendingTransition[]): Promise<void> => {
    if (pending.length === 0) return
    const transitions = pending.map(({ made }) => made.move)
    const result = await send(transitions)
    if (!(result instanceof StoreError)) {
      apply(pending, result)
      await Promise.all(pending.map(({ made }) => made.settle()))
    } else if (pending.length === 1) backOff((transitions[0] as WorkflowTransition).runId, result)
    else {
      await sendInHalves(pending, write)
    }
  }

  return { write, announce }
}

/** The transition is written: the workflow in memory is at the next revision. */
function noteAdvanced(
  workflow: LoadedWorkflow,
  { move: { runId, end }, isMore }: PreparedTransition,
  {
    agenda: { cache },
    requests,
  }: { readonly agenda: WorkflowAgenda; readonly requests: StepRequests },
): void {
  requests.answer(runId)
  workflow.revision += 1
  if (cache.get(runId) !== workflow) return
  if (end) cache.drop(runId)
  else if (isMore || workflow.inbox.length > 0 || requests.has(runId)) cache.markDirty(runId)
}
