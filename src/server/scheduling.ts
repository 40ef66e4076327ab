import { type BackfillDeps, continueBackfills } from './backfills/continue-backfills.ts'
import type { Catalog } from './catalog.ts'
import type { Step } from './loops/run-loop.ts'
import { createDraftTimes } from './schedules/draft-times.ts'
import { createFiring, type Firing, type FiringDeps } from './schedules/firing.ts'

/** What schedules do by themselves: times that come fire, and past ones are made up for. */
export interface Scheduling {
  readonly firing: Firing
  readonly backfill: Step
}

export function createScheduling(
  deps: Omit<FiringDeps, 'draftTimes'> & BackfillDeps & { readonly catalog: Catalog },
): Scheduling {
  const { draft, catalog } = deps
  return {
    firing: createFiring({ ...deps, draftTimes: createDraftTimes({ draft, catalog }) }),
    backfill: continueBackfills(deps),
  }
}
