import { writeRun } from '../../core/wire/runs.ts'
import type { Store, TickBatch, TickResult } from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import type { RunCreators } from '../runs/run-creators.ts'
import { viewsOf } from '../runs/run-view.ts'
import type { ProgressTable } from '../runs/progress-table.ts'
import type { RunChange } from './event-buffer.ts'

/** The runs that a tick has changed. */
export function* changedBy(batch: TickBatch, result: TickResult): Generator<number> {
  for (const [index, { id }] of batch.submits.entries()) {
    if (result.submits[index]?.kind === 'inserted') yield id
  }
  for (const { runId } of batch.ends) yield runId
  for (const { runId } of batch.cancels) yield runId
  for (const leases of result.claims) {
    for (const { runId } of leases) yield runId
  }
}

/** Reads runs as lists show them, without long fields. */
export function createRunChangeReader({
  store,
  catalog,
  progress,
  creators,
}: {
  readonly store: Pick<Store, 'findRuns'>
  readonly catalog: CatalogCache
  readonly progress: Pick<ProgressTable, 'of'>
  readonly creators: RunCreators
}): (runIds: readonly number[]) => Promise<RunChange[]> {
  return async (runIds) => {
    const runs = await store.findRuns({ runIds })
    const short = runs.map((run) => ({ ...run, work: null, input: null, result: null }))
    return (await viewsOf(short, catalog, { progressOf: progress.of, creators })).map((view) => {
      const { project, job } = view
      const { work: _, input: __, result: ___, ...rest } = writeRun(view)
      const { input_bytes: ____, result_bytes: _____, ...data } = rest
      return { project, job, data }
    })
  }
}
