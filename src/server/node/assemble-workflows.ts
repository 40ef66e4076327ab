import { createDraftEach } from '../runs/draft-each.ts'
import { createFollowUps, type FollowUps } from '../runs/follow-ups/follow-ups.ts'
import { createScheduledTimeOf, type ScheduledTimeOf } from '../runs/retries/scheduled-time.ts'
import type { RuleCache } from '../schedules/rule-cache.ts'
import {
  createCompiledWorkflowCache,
  type CompiledWorkflowCache,
} from '../workflows/compiled-workflow-cache.ts'
import { createWorkflowReader, type WorkflowReader } from '../workflows/views/workflow-reader.ts'
import { createWorkflowEngine, type WorkflowEngine } from '../workflows/workflow-engine.ts'
import type { Dispatch } from './assemble-dispatch.ts'
import type { Runs } from './assemble-runs.ts'
import type { StoreAccess } from './assemble-store-access.ts'
import type { NodeOptions } from './node-options.ts'
import type { NodeSignals } from '../signals/signals.ts'

/** Runs that are started by other runs: steps of workflows, and jobs that follow others. */
export interface Workflows {
  /** Starts workflow runs, advances them step by step, and ends them. */
  readonly engine: WorkflowEngine
  /** Starts the runs that follow the end of other runs. */
  readonly followUps: FollowUps
  readonly reader: WorkflowReader
  readonly compiled: CompiledWorkflowCache
  readonly timeFor: ScheduledTimeOf
}

export function assembleWorkflows(
  { clock }: NodeOptions,
  {
    access,
    dispatch,
    runs,
    rules,
    signals,
  }: {
    readonly access: StoreAccess
    readonly dispatch: Dispatch
    readonly runs: Runs
    readonly rules: RuleCache
    readonly signals: NodeSignals
  },
): Workflows {
  const { store, catalog, definitions, membership, node, onError } = access
  const { laneIndex, ticker, assignDirectly } = dispatch
  const { draft, payloads, zone } = runs
  const { storeNow, mayPromise } = membership
  const compiled = createCompiledWorkflowCache({ store, clock })
  return {
    compiled,
    timeFor: createScheduledTimeOf({ store, rules, zone }),
    reader: createWorkflowReader({ store, catalog, compiledWorkflows: compiled, clock }),
    engine: createWorkflowEngine({
      store,
      catalog,
      clock,
      storeNow,
      laneIndex,
      payloads,
      zone,
      node,
      assignDirectly,
      compiledWorkflows: compiled,
      draftEach: createDraftEach(draft),
      mayAdvance: mayPromise,
      cancel: ticker.cancel,
      signals,
      onError,
    }),
    followUps: createFollowUps({
      store,
      catalog,
      definitions,
      clock,
      storeNow,
      draft,
      payloads,
      zone,
      node,
      assignDirectly,
      maySettle: mayPromise,
      signals,
      onError,
    }),
  }
}
