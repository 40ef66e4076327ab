import { PunctualError } from '../../../core/errors.ts'
import { statisticsOf } from '../../../core/workflow/statistics.ts'
import type { WireJobStep } from '../../../core/workflow/step-views.ts'
import type { WirePage } from '../../../core/wire/views.ts'
import type { Step } from '../../../core/workflow/workflow.ts'
import type { JobStore, RunQueries } from '../../../store/port.ts'
import type { Paging } from '../../admin/jobs.ts'
import { pageLimit, pageOf } from '../../paging/paging.ts'
import type { Catalog } from '../../catalog/catalog-cache.ts'
import { readCountCursor } from '../../paging/cursor.ts'
import type { WorkflowBook } from '../compiled-workflow-cache.ts'
import { planStep } from './plan-step.ts'

/** The latest runs of a step that its statistics are of. */
const LATEST = 50
/** So many steps are looked at side by side. */
const AT_ONCE = 8

/** The steps of a job as its definition in force has them, and how each went lately. */
export type JobSteps = (
  project: string,
  job: string,
  paging: Paging,
) => Promise<WirePage<WireJobStep>>

export function createJobSteps({
  store,
  catalog,
  book,
}: {
  readonly store: Pick<JobStore, 'findDefinition'> & Pick<RunQueries, 'listRuns'>
  readonly catalog: Pick<Catalog, 'findProject' | 'findJob'>
  readonly book: WorkflowBook
}): JobSteps {
  /** A step of work is a job of its own, called after both; one that is another job counts as that. */
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
    const compiled = await book.find({ jobId: record.id, version: record.version, job })
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
