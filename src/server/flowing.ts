import type { Store } from '../store/port.ts'
import type { Catalog } from './catalog.ts'
import { createDraftEach } from './draft-each.ts'
import { createFlows, type FlowDeps, type Flows } from './flows/flows.ts'
import { createFlowReading, type FlowReading } from './flows/seen/flow-reading.ts'
import { createWorkflowBook, type WorkflowBook } from './flows/workflow-book.ts'
import type { Draft } from './submissions.ts'

export interface Flowing {
  /** What workflows do by themselves: their runs begin, go on from step to step, and end. */
  readonly flows: Flows
  readonly flowReading: FlowReading
  readonly book: WorkflowBook
}

export function createFlowing(
  deps: Omit<FlowDeps, 'book' | 'draftEach'> & {
    readonly store: Store
    readonly catalog: Catalog
    readonly draft: Draft
  },
): Flowing {
  const { store, catalog } = deps
  const book = createWorkflowBook(store)
  return {
    book,
    flowReading: createFlowReading({ store, catalog, book }),
    flows: createFlows({ ...deps, book, draftEach: createDraftEach(deps.draft) }),
  }
}
