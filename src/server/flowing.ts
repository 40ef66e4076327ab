import type { Clock } from '../core/clock.ts'
import type { Store } from '../store/port.ts'
import type { Catalog } from './catalog/catalog-cache.ts'
import { createDraftEach } from './runs/draft-each.ts'
import { createFlows, type FlowDeps, type Flows } from './workflows/workflow-engine.ts'
import { createFlowReading, type FlowReading } from './workflows/views/workflow-reader.ts'
import { createWorkflowBook, type WorkflowBook } from './workflows/compiled-workflow-cache.ts'
import {
  createFollowing,
  type Following,
  type FollowingDeps,
} from './runs/follow-ups/follow-ups.ts'
import type { RuleBook } from './schedules/rule-cache.ts'
import type { Draft } from './runs/draft-runs.ts'
import { createTimeFor, type TimeFor } from './runs/retries/scheduled-time.ts'

export interface Flowing {
  /** What workflows do by themselves: their runs begin, go on from step to step, and end. */
  readonly flows: Flows
  /** And what runs after others, whatever those were. */
  readonly following: Following
  readonly flowReading: FlowReading
  readonly book: WorkflowBook
  readonly timeFor: TimeFor
}

export function createFlowing(
  deps: Omit<FlowDeps, 'book' | 'draftEach'> &
    Omit<FollowingDeps, 'mayFollow'> & {
      readonly store: Store
      readonly catalog: Catalog
      readonly draft: Draft
      readonly clock: Clock
      readonly rules: RuleBook
    },
): Flowing {
  const { store, catalog, clock, rules, zone } = deps
  const book = createWorkflowBook({ store, clock })
  return {
    book,
    timeFor: createTimeFor({ store, rules, zone }),
    flowReading: createFlowReading({ store, catalog, book, clock }),
    following: createFollowing({ ...deps, mayFollow: deps.mayMove }),
    flows: createFlows({ ...deps, book, draftEach: createDraftEach(deps.draft) }),
  }
}
