import { PunctualError } from '../../core/errors.ts'
import { parsePublicId } from '../../core/ids.ts'
import type { RunQueries, RunRecord } from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'

/** Finds a run by its public id within a project; runs of other projects are not found. */
export async function findProjectRun(
  project: string,
  id: string,
  {
    store,
    catalog,
  }: { store: Pick<RunQueries, 'findRun'>; catalog: Pick<CatalogCache, 'findProject'> },
): Promise<RunRecord> {
  const runId = parsePublicId('run', id)
  const projectId = await catalog.findProject(project)
  const run =
    runId === undefined || projectId === null ? null : await store.findRun({ projectId, runId })
  if (!run) throw new PunctualError('run_not_found', `there is no run ${id.slice(0, 40)}`)
  return run
}
