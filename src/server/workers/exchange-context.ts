import type { LaneSpec } from '../../core/queue/lane.ts'
import type { Lease, RunQueries } from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import type { Definitions } from '../definitions/definitions.ts'
import { assignmentOf } from './assignment.ts'
import type { ExchangeContext } from './exchange.ts'
import { createServedProjects } from './served-projects.ts'

type Own = 'weightOf' | 'prepare' | 'assignment' | 'isServedBy' | 'isRunServedBy'

/** Collects what exchanges need: names, work and weights of granted runs. */
export function createExchangeContext(
  deps: Omit<ExchangeContext, Own> & {
    readonly store: Pick<RunQueries, 'findRun'>
    readonly catalog: CatalogCache
    readonly definitions: Pick<Definitions, 'learn' | 'workOf'>
    laneOf(lease: Lease): LaneSpec | undefined
  },
): ExchangeContext {
  const { catalog, definitions, laneOf } = deps
  return {
    ...deps,
    ...createServedProjects(deps),
    weightOf: (lease) => laneOf(lease)?.weight ?? 1,
    async prepare(leases) {
      await definitions.learn(leases)
      await catalog.learnNames(
        leases.map((lease) => lease.jobId),
        leases.map((lease) => lease.projectId),
      )
    },
    assignment(lease, { input, secrets }) {
      const work = definitions.workOf(lease)
      return assignmentOf(lease, { catalog, lane: laneOf(lease), work, input, secrets })
    },
  }
}
