import { PunctualError } from '../../../core/errors.ts'
import { statisticsOf } from '../../../core/workflow/views/statistics.ts'
import type { WireJobStep } from '../../../core/workflow/views/step-views.ts'
import type { WirePage } from '../../../core/wire/views.ts'
import type { Step } from '../../../core/workflow/workflow.ts'
import type { JobStore, RunQueries } from '../../../store/port.ts'
import { pageLimit, pageOf, type Paging } from '../../paging/paging.ts'
import type { CatalogCache } from '../../catalog/catalog-cache.ts'
import { readCountCursor } from '../../paging/cursor.ts'
import type { CompiledWorkflowCache } from '../compiled-workflow-cache.ts'
import { planStep } from './plan-step.ts'

/** Number of latest runs that the statistics of a step cover. */
const LATEST = 50
/** Steps that are examined concurrently. */
const AT_ONCE = 8

/** The steps of a job in its current definition, with statistics of their latest runs. */
export type JobSteps = (
  project: string,
  job: string,
  paging: Paging,
) => Promise<WirePage<WireJobStep>>

export function createJobSteps({
  store,
  catalog,
  compiledWorkflows,
}: {
  readonly store: Pick<JobStore, 'findDefinition'> & Pick<RunQueries, 'listRuns'>
  readonly catalog: Pick<CatalogCache, 'findProject' | 'findJob'>
  readonly compiledWorkflows: CompiledWorkflowCache
}): JobSteps {
  /**
   * A step with its own work is a job named after both; a step that runs another job counts as that
   * job.
   */
  const statistics = async (projectId: number, job: string, { name, does }: Step) => {
    const called = does.kind === 'job' ? does.job : `${job}/${name}`
    const jobId = does.kind === 'approve' ? null : await catalog.findJob(projectId, called)
    if (jobId === null) return statisticsOf([])
    const page = { projectId, jobId, state: null, before: Number.MAX_SAFE_INTEGER, limit: LATEST }
    return statisticsOf(await store.listRuns(page))
  }

  return async (project, job, { limit, cursor }) => {
    const from = readCountCursor(cursor)
    const projectId = await catalog.findProject(project)
    const record = projectId === null ? null : await store.findDefinition({ projectId, name: job })
    if (projectId === null || !record) {
      throw new PunctualError('job_not_found', `there is no job ${job}`)
    }
    const compiled = await compiledWorkflows.find({
      jobId: record.id,
      version: record.version,
      job,
    })
    if (!compiled) return { data: [], next_cursor: null }
    const size = pageLimit(limit)
    const steps = compiled.workflow.steps.slice(from, from + size + 1)
    const shown: WireJobStep[] = []
    const left = steps.slice(0, size).entries()
    const work = async () => {
      for (const [index, step] of left) {
        const plan = planStep(compiled, from + index)
        shown[index] = { ...plan, statistics: await statistics(projectId, job, step) }
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    const last = from + size
    return pageOf(
      steps.map((_, index) => index),
      size,
      (index) => shown[index] as WireJobStep,
      () => last,
    )
  }
}
