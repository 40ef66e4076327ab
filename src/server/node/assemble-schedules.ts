import {
  createViolationDetector,
  type ViolationDetector,
} from '../expectations/violation-detector.ts'
import type { LoopStep } from '../loops/run-loop.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { continueBackfills } from '../schedules/backfills/continue-backfills.ts'
import { createDraftTimes } from '../schedules/firing/draft-times.ts'
import { createFiring, type Firing } from '../schedules/firing/firing.ts'
import type { RuleCache } from '../schedules/rule-cache.ts'
import {
  createScheduleRewinder,
  type ScheduleRewinder,
} from '../schedules/firing/schedule-rewinder.ts'
import type { Dispatch } from './assemble-dispatch.ts'
import type { Runs } from './assemble-runs.ts'
import type { StoreAccess } from './assemble-store-access.ts'
import type { NodeOptions } from './node-options.ts'
import type { NodeSignals } from '../signals/signals.ts'

/** Automatic work of schedules: firing, backfills, and checking expectations of runs. */
export interface Schedules {
  readonly firing: Firing
  readonly rewinding: ScheduleRewinder
  readonly backfill: LoopStep
  readonly violationDetector: ViolationDetector
}

export function assembleSchedules(
  { clock }: NodeOptions,
  {
    access,
    dispatch,
    runs,
    rules,
    metrics,
    signals,
  }: {
    readonly access: StoreAccess
    readonly dispatch: Dispatch
    readonly runs: Runs
    readonly rules: RuleCache
    readonly metrics: Metrics
    readonly signals: NodeSignals
  },
): Schedules {
  const { store, storeClock, catalog, definitions, membership, node, onError } = access
  const { draft } = runs
  const { storeNow, mintId } = membership
  const mayFire = () => membership.mayPromise() && storeClock.mayFire()
  const rewinding = createScheduleRewinder({
    store,
    rules,
    storeNow,
    signals,
  })
  return {
    rewinding,
    firing: createFiring({
      store,
      rules,
      rewinding,
      draftTimes: createDraftTimes({ draft, catalog, definitions }),
      assignDirectly: dispatch.assignDirectly,
      node,
      mono: clock.mono,
      storeNow,
      mintId,
      mayFire,
      isClockOff: storeClock.isClockOff,
      signals,
      metrics,
      onError,
    }),
    backfill: continueBackfills({
      store,
      catalog,
      rules,
      draft,
      node,
      storeNow,
      mayFire,
      signals,
    }),
    violationDetector: createViolationDetector({
      store,
      storeNow,
      mayCheck: mayFire,
      onViolations: metrics.onViolations,
    }),
  }
}
