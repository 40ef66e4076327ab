import { type BackfillDeps, continueBackfills } from './schedules/backfills/continue-backfills.ts'
import type { Catalog } from './catalog/catalog-cache.ts'
import type { Definitions } from './definitions/definitions.ts'
import { createLookout, type Lookout, type LookoutDeps } from './expectations/violation-detector.ts'
import type { Step } from './loops/run-loop.ts'
import { createDraftTimes } from './schedules/draft-times.ts'
import { createFiring, type Firing, type FiringDeps } from './schedules/firing.ts'

/** What schedules do by themselves: times that come fire, past ones are made up for, and runs are looked after. */
export interface Scheduling {
  readonly firing: Firing
  readonly backfill: Step
  readonly lookout: Lookout
}

export function createScheduling(
  deps: Omit<FiringDeps, 'draftTimes'> &
    BackfillDeps &
    Omit<LookoutDeps, 'mayLook'> & {
      readonly catalog: Catalog
      readonly definitions: Definitions
    },
): Scheduling {
  const { draft, catalog, definitions } = deps
  const draftTimes = createDraftTimes({ draft, catalog, definitions })
  return {
    firing: createFiring({ ...deps, draftTimes }),
    backfill: continueBackfills(deps),
    lookout: createLookout({ ...deps, mayLook: deps.mayFire }),
  }
}
