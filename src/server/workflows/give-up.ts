import { LIMITS } from '../../core/limits.ts'
import { storable } from '../../core/text/storable.ts'
import type { CancelCommand, FlowStore } from '../../store/port.ts'
import type { Unreadable } from './load-workflows.ts'
import type { MadeMove } from './prepare-transition.ts'
import { readSteps } from './read-steps.ts'

/** So many runs are cancelled at once. */
const AT_ONCE = 1_000

/** The end of a flow that cannot go on. */
export function giveUp({ record, problem }: Unreadable): MadeMove {
  const { runId, revision } = record
  const nothing = { heard: [], starts: [], marks: [], lookAt: null }
  const message = storable(problem).slice(0, LIMITS.messageBytes)
  const end = { state: 'failed', cause: 'start_error', message, result: null } as const
  return { move: { runId, revision, ...nothing, end }, isMore: false, settle: async () => {} }
}

/** What is under way in such a flow is told to stop before it ends: afterwards nobody would. */
export async function stopSteps(
  { record: { runId: flowId, projectId } }: Unreadable,
  deps: {
    readonly store: Pick<FlowStore, 'flowSteps'>
    cancel(command: CancelCommand): Promise<unknown>
  },
): Promise<void> {
  const steps = await readSteps(deps.store, flowId)
  const runIds = steps.flatMap(({ state, runId }) => (state === 'running' && runId ? [runId] : []))
  for (let from = 0; from < runIds.length; from += AT_ONCE) {
    const some = runIds.slice(from, from + AT_ONCE)
    await Promise.all(some.map((runId) => deps.cancel({ runId, projectId })))
  }
}
