import type { Lease, RunQueries } from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import type { ExchangeContext } from './exchange.ts'
import type { Session } from '../sessions/session.ts'

/** Whether runs belong to projects that a session serves. */
export function createServedProjects({
  store,
  catalog,
}: {
  store: Pick<RunQueries, 'findRun'>
  catalog: Pick<CatalogCache, 'projectName' | 'findProject'>
}): Pick<ExchangeContext, 'isServedBy' | 'isRunServedBy'> {
  return {
    isServedBy({ offer: { projects } }: Session, { projectId }: Lease) {
      return projects.length === 0 || projects.includes(catalog.projectName(projectId))
    },

    async isRunServedBy({ offer: { projects } }, runId) {
      if (projects.length === 0) return true
      for (const project of projects) {
        const projectId = await catalog.findProject(project)
        if (projectId !== null && (await store.findRun({ projectId, runId }))) return true
      }
      return false
    },
  }
}
