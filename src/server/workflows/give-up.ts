import { LIMITS } from '../../core/limits.ts'
import { storable } from '../../core/text/storable.ts'
import type { CancelCommand, WorkflowStore } from '../../store/port.ts'
import type { UnreadableWorkflow } from './load-workflows.ts'
import type { PreparedTransition } from './prepare-transition.ts'
import { readSteps } from './read-steps.ts'

/** Runs that are cancelled at once. */
const AT_ONCE = 1_000

export interface StopStepsDeps {
  readonly store: Pick<WorkflowStore, 'workflowSteps'>
  cancel(command: CancelCommand): Promise<unknown>
}

/** The failed end of a workflow that cannot continue. */
export function giveUp({ record, problem }: UnreadableWorkflow): PreparedTransition {
  const { runId, revision } = record
  const nothing = { processed: [], starts: [], marks: [], checkAt: null }
  const message = storable(problem).slice(0, LIMITS.messageBytes)
  const end = { state: 'failed', cause: 'start_error', message, result: null } as const
  return { move: { runId, revision, ...nothing, end }, isMore: false, settle: async () => {} }
}

/** Cancels the running steps of such a workflow before it ends: afterwards no node would do it. */
export async function stopSteps(
  { record: { runId: workflowId, projectId } }: UnreadableWorkflow,
  deps: StopStepsDeps,
): Promise<void> {
  const steps = await readSteps(deps.store, workflowId)
  const runIds = steps.flatMap(({ state, runId }) => (state === 'running' && runId ? [runId] : []))
  for (let from = 0; from < runIds.length; from += AT_ONCE) {
    const some = runIds.slice(from, from + AT_ONCE)
    await Promise.all(some.map((runId) => deps.cancel({ runId, projectId })))
  }
}
