import { PunctualError } from '../../core/errors.ts'
import { parsePublicId } from '../../core/ids.ts'
import type { RunQueries, RunRecord } from '../../store/port.ts'
import type { Catalog } from '../catalog/catalog-cache.ts'

/** A run by its public id, as its project sees it; what belongs to others is not there. */
export async function findRun(
  project: string,
  id: string,
  { store, catalog }: { store: Pick<RunQueries, 'findRun'>; catalog: Pick<Catalog, 'findProject'> },
): Promise<RunRecord> {
  const runId = parsePublicId('run', id)
  const projectId = await catalog.findProject(project)
  const run =
    runId === undefined || projectId === null ? null : await store.findRun({ projectId, runId })
  if (!run) throw new PunctualError('run_not_found', `there is no run ${id.slice(0, 40)}`)
  return run
}
