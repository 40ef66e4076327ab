import { publicId } from '../../core/ids.ts'
import { PunctualError } from '../../core/errors.ts'
import { defaultsOf, type JobDefinition } from '../../core/job/job-definition.ts'
import type { SchedulerClient } from '../../core/wire/protocol.ts'
import { COMPAT_QUEUE } from '../../core/queue/default-queues.ts'
import type { JobStore, NumberedJob } from '../../store/port.ts'
import type { RequestedBy } from '../identity/requested-by.ts'
import type { JobAdmin } from '../admin/jobs.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import { unknownJob } from './job-number.ts'
import type { JobTiming } from './recurrence.ts'

const PLAIN_SCHEDULE = 'plain'

/** A job as either protocol submits it. */
export interface NewCompatJob {
  /** For display; need not be unique. */
  readonly title: string
  readonly owner?: string | undefined
  /** What is executed, and which field of the request it came from. */
  readonly work: Pick<JobDefinition, 'run' | 'script' | 'interpreter' | 'argv' | 'stdin'>
  readonly workField: 'command' | 'payload'
  readonly retries?: number | undefined
  readonly when: JobTiming
}

/** Numbered jobs: each has a definition of its own, whatever the names of others. */
export interface CompatJobs {
  create(by: RequestedBy, job: NewCompatJob): Promise<number>
  /** In one project, or with null in any. */
  find(id: number | undefined, project: string | null): Promise<NumberedJob>
  has(id: number, project: string | null): Promise<boolean>
  list(project: string, page: Page): Promise<readonly NumberedJob[]>
  listOwned(owner: string, project: string | null, page: Page): Promise<readonly NumberedJob[]>
  hasProject(name: string): Promise<boolean>
}

export interface Page {
  readonly before: number
  readonly limit: number
}

export function createCompatJobs(deps: {
  readonly store: JobStore
  readonly catalog: CatalogCache
  readonly jobs: Pick<JobAdmin, 'put'>
  clientFor(project: string, actor: number | null): Pick<SchedulerClient, 'submit'>
  mintId(): number
}): CompatJobs {
  const { store, catalog, jobs } = deps

  /** The id of an existing project; null for all projects. */
  const projectOf = async (name: string | null): Promise<number | null | 'none'> =>
    name === null ? null : ((await catalog.findProject(name)) ?? 'none')

  const lookFor = async (id: number, project: string | null): Promise<NumberedJob | null> => {
    const [job, projectId] = await Promise.all([store.findNumberedJob({ id }), projectOf(project)])
    return job && (projectId === null || projectId === job.projectId) ? job : null
  }

  return {
    async create(by, { title, owner, work, workField, retries, when }) {
      const name = nameOf(title, deps.mintId())
      const definition: JobDefinition = {
        title,
        queue: COMPAT_QUEUE,
        ...work,
        ...(owner === undefined ? {} : { owner }),
        ...(retries ? { retry: { max: retries } } : {}),
      }
      requireSense(definition, name, workField)
      const rules = when.rule ? [{ name: PLAIN_SCHEDULE, input: { rule: when.rule } }] : []
      await jobs.put(by, name, definition, 0, rules)
      if (when.once) {
        const client = deps.clientFor(by.project, by.actor)
        await client.submit([{ job: name, runAt: when.once.at }])
      }
      const projectId = await catalog.project(by.project)
      return (await catalog.findJob(projectId, name)) as number
    },

    async find(id, project) {
      const job = id === undefined ? null : await lookFor(id, project)
      if (job) return job
      throw unknownJob(id ?? 'like that')
    },

    has: async (id, project) => (await lookFor(id, project)) !== null,

    async list(project, page) {
      const projectId = await catalog.findProject(project)
      return projectId === null ? [] : store.listNumberedJobs({ projectId, ...page })
    },

    async listOwned(owner, project, page) {
      const projectId = await projectOf(project)
      return projectId === 'none' ? [] : store.listOwnedJobs({ owner, projectId, ...page })
    },

    hasProject: async (name) => name === 'default' || (await catalog.findProject(name)) !== null,
  }
}

/** Reports an invalid definition as an error of the field it was made from. */
function requireSense(definition: JobDefinition, name: string, field: string): void {
  try {
    defaultsOf(definition, name)
  } catch (error) {
    if (!(error instanceof PunctualError)) throw error
    const message = error.message.replace(error.field ?? '', field)
    throw new PunctualError(error.code, message, { field, cause: error })
  }
}

const LONGEST_SLUG = 60

/** `nightly-backup-06w6zjf6m0a`: readable, and unique. */
function nameOf(title: string, id: number): string {
  const slug = title
    .normalize('NFKD')
    .replaceAll(/[^A-Za-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, LONGEST_SLUG)
    .toLowerCase()
  const [, unique] = publicId('run', id).split('_')
  return `${slug || 'job'}-${unique}`
}
