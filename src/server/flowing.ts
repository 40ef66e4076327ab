import type { JobStore } from '../store/port.ts'
import { createFlowControl, type ControlDeps, type FlowControl } from './admin/flows.ts'
import { createDraftEach } from './draft-each.ts'
import { createFlows, type FlowDeps, type Flows } from './flows/flows.ts'
import { createWorkflowBook } from './flows/workflow-book.ts'
import type { Draft } from './submissions.ts'

/** What workflows do by themselves: their runs begin, go on from step to step, and end. And who steers them. */
export interface Flowing {
  readonly flows: Flows
  readonly control: FlowControl
}

export function createFlowing(
  deps: Omit<FlowDeps & ControlDeps, 'book' | 'draftEach' | 'flows'> & {
    readonly store: Pick<JobStore, 'definitionsOf'>
    readonly draft: Draft
  },
): Flowing {
  const book = createWorkflowBook(deps.store)
  const flows = createFlows({ ...deps, book, draftEach: createDraftEach(deps.draft) })
  return { flows, control: createFlowControl({ ...deps, book, flows }) }
}
