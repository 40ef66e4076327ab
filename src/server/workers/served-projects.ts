import type { Lease, RunQueries } from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import type { Session } from '../sessions/session.ts'

/** Whether the run belongs to a project that the session serves. */
export function isServedBy(
  { offer: { projects } }: Session,
  { projectId }: Lease,
  catalog: Pick<CatalogCache, 'projectName'>,
): boolean {
  return projects.length === 0 || projects.includes(catalog.projectName(projectId))
}

/** Like `isServedBy`, for a run that is only in the store. */
export async function isRunServedBy(
  { offer: { projects } }: Session,
  runId: number,
  {
    store,
    catalog,
  }: {
    readonly store: Pick<RunQueries, 'findRun'>
    readonly catalog: Pick<CatalogCache, 'findProject'>
  },
): Promise<boolean> {
  if (projects.length === 0) return true
  for (const project of projects) {
    const projectId = await catalog.findProject(project)
    if (projectId !== null && (await store.findRun({ projectId, runId }))) return true
  }
  return false
}
