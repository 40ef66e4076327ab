import { idAtMs } from '../../core/ids.ts'
import type { RunFilter } from '../../core/run/run-filter.ts'
import type { RunQueries, RunSearchPage } from '../../store/port.ts'

/**
 * Maximum number of rows examined for one page, which also bounds its duration. A filter that
 * matches little gives short or empty pages that continue, so no page keeps the store busy for
 * long.
 */
const MAX_EXAMINED = 20_000
const MAX_MS = 250

/** One page of the runs that match a filter, newest first, below an id. */
export async function queryRunPage(
  input: { projectId: number; filter: RunFilter; before: number; limit: number },
  store: Pick<RunQueries, 'searchRuns' | 'findJobs'>,
): Promise<RunSearchPage> {
  const { projectId, filter, limit } = input
  const { states, jobs, queues, workers, causes, tags } = filter
  const hasPattern = jobs?.some((job) => job.includes('*')) ?? false
  return store.searchRuns({
    projectId,
    queues,
    workers,
    tags,
    limit,
    states: states && [...states],
    causes: causes && [...causes],
    jobIds: jobs && !hasPattern ? await idsOf(projectId, jobs, store) : null,
    jobNames: hasPattern ? jobs : null,
    withoutSteps: !filter.steps,
    from: filter.since === null ? 0 : idAtMs(filter.since),
    before: filter.until === null ? input.before : Math.min(input.before, idAtMs(filter.until)),
    examine: MAX_EXAMINED,
    maxMs: MAX_MS,
  })
}

/**
 * Ids of the jobs that exist; an unknown name matches no run. One query, because a filter may name
 * a thousand jobs.
 */
async function idsOf(
  projectId: number,
  jobs: readonly string[],
  store: Pick<RunQueries, 'findJobs'>,
): Promise<readonly number[]> {
  const names = [...new Set(jobs)]
  return names.length === 0 ? [] : store.findJobs({ projectId, names })
}
