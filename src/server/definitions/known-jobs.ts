import { PunctualError } from '../../core/errors.ts'
import { handlerExecutor, handlersIn } from '../../core/worker/handler-names.ts'
import type { Offer } from '../../core/queue/lane.ts'
import { LIMITS } from '../../core/limits.ts'
import { nearestName } from '../../core/text/nearest.ts'
import type { Submission } from '../../core/wire/protocol.ts'
import type { JobRecord, JobStore, NodeStore, RunQueries } from '../../store/port.ts'
import { gatherPage } from '../paging/paging.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import type { RecentOffers } from '../sessions/recent-offers.ts'

/** Distinguishes a mistyped job name from a job that is executed by a handler. */
export interface KnownJobs {
  /**
   * Throws if one of these undefined jobs has no handler: no connected worker offers one, no worker
   * offered one within the last day, and no handler executed a recent run of the job.
   */
  require(
    submissions: readonly Submission[],
    where: { readonly project: string; readonly projectId: number },
  ): Promise<void>
  /** Whether a worker of the project offers, or recently offered, a handler of this name. */
  hasHandler(project: string, name: string): Promise<boolean>
}

/** How many of the latest runs of a job are checked for one that a handler executed. */
const RUNS_LOOKED_AT = 20

export function createKnownJobs(deps: {
  readonly store: Pick<NodeStore, 'listSessions'> &
    Pick<RunQueries, 'listRuns'> &
    Pick<JobStore, 'listDefinitions'>
  readonly catalog: Pick<CatalogCache, 'findJob'>
  readonly recentOffers: RecentOffers
}): KnownJobs {
  const { store, catalog, recentOffers } = deps

  /** Handlers of workers that are connected to any node. */
  const connectedHandlers = async (project: string): Promise<string[]> => {
    const sessions = await store.listSessions()
    const offers = sessions.flatMap(({ offer }) => (offer ? (JSON.parse(offer) as Offer) : []))
    return offers
      .filter(({ projects }) => projects.length === 0 || projects.includes(project))
      .flatMap(({ executors }) => handlersIn(executors))
  }

  /** Whether a handler executed one of the latest runs, on any node and at any time. */
  const wasExecuted = async (projectId: number, job: string): Promise<boolean> => {
    const jobId = await catalog.findJob(projectId, job)
    if (jobId === null) return false
    const before = Number.MAX_SAFE_INTEGER
    const page = { projectId, jobId, state: null, before, limit: RUNS_LOOKED_AT }
    const runs = await store.listRuns(page)
    return runs.some(({ worker, work, version }) => worker !== null && work === null && !version)
  }

  const definedJobs = async (projectId: number, after: string): Promise<readonly string[]> => {
    const page = await gatherPage<JobRecord, string>({
      size: LIMITS.pageSize,
      sizeOf: ({ definition }) => definition.length,
      fetch: (last, limit) =>
        store.listDefinitions({ projectId, after: last?.name ?? after, limit }),
      show: async ({ name }) => name,
      cursorOf: ({ name }) => name,
    })
    return page.data
  }

  /**
   * Suggests similar names. Most typos keep the first letter, so jobs with the same first letter
   * come first.
   */
  const nearest = async (projectId: number, job: string, handlers: readonly string[]) =>
    nearestName(job, [...(await definedJobs(projectId, job.slice(0, 1))), ...handlers]) ??
    nearestName(job, await definedJobs(projectId, ''))

  return {
    hasHandler: async (project, name) =>
      recentOffers.has(project, handlerExecutor(name)) ||
      (await connectedHandlers(project)).includes(name),

    async require(submissions, { project, projectId }) {
      const jobs = [...new Set(submissions.map(({ job }) => job))]
      const unseen = jobs.filter((job) => !recentOffers.has(project, handlerExecutor(job)))
      if (unseen.length === 0) return
      const handlers = await connectedHandlers(project)
      for (const job of unseen) {
        if (handlers.includes(job) || (await wasExecuted(projectId, job))) continue
        const known = [...handlers, ...recentOffers.handlers(project)]
        throw unknownJob(job, await nearest(projectId, job, known))
      }
    },
  }
}

function unknownJob(job: string, meant: string | undefined): PunctualError {
  const advice = meant === undefined ? '' : `; did you mean ${meant}?`
  const message = `there is no job ${job}, and no worker has a handler of that name${advice}`
  const hint = `If a worker with the handler comes later, say so: \`task: ${job}\`.`
  return new PunctualError('job_not_found', message, { field: 'job', hint })
}
