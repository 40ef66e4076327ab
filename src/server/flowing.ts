import { createDraftEach } from './draft-each.ts'
import { createFlows, type FlowDeps, type Flows } from './flows/flows.ts'
import { createWorkflowBook } from './flows/workflow-book.ts'
import type { JobStore } from '../store/port.ts'
import type { Draft } from './submissions.ts'

/** What workflows do by themselves: their runs begin, go on from step to step, and end. */
export function createFlowing(
  deps: Omit<FlowDeps, 'book' | 'draftEach'> & {
    readonly store: Pick<JobStore, 'definitionsOf'>
    readonly draft: Draft
  },
): Flows {
  const book = createWorkflowBook(deps.store)
  return createFlows({ ...deps, book, draftEach: createDraftEach(deps.draft) })
}
