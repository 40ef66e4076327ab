import { publicId } from '../../core/ids.ts'
import { PunctualError } from '../../core/errors.ts'
import { defaultsOf, type JobDefinition } from '../../core/job/job-definition.ts'
import type { SchedulerClient } from '../../core/wire/protocol.ts'
import { PLAIN_QUEUE } from '../../core/queue/default-queues.ts'
import type { JobStore, NumberedJob } from '../../store/port.ts'
import type { By } from '../identity/requested-by.ts'
import type { Jobs } from '../admin/jobs.ts'
import type { Catalog } from '../catalog/catalog-cache.ts'
import { unknownJob } from './job-number.ts'
import type { When } from './recurrence.ts'

const PLAIN_SCHEDULE = 'plain'

/** A job as either of the old protocols asks for it. */
export interface NewPlainJob {
  /** For people; others may have the same. */
  readonly title: string
  readonly owner?: string | undefined
  /** What is executed, and where that stood in the request. */
  readonly work: Pick<JobDefinition, 'run' | 'script' | 'interpreter' | 'argv' | 'stdin'>
  readonly workField: 'command' | 'payload'
  readonly retries?: number | undefined
  readonly when: When
}

/** Jobs by number: each is a definition of its own, whatever others are called. */
export interface PlainJobs {
  create(by: By, job: NewPlainJob): Promise<number>
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

export function createPlainJobs(deps: {
  readonly store: JobStore
  readonly catalog: Catalog
  readonly jobs: Pick<Jobs, 'put'>
  clientFor(project: string, actor: number | null): Pick<SchedulerClient, 'submit'>
  mintId(): number
}): PlainJobs {
  const { store, catalog, jobs } = deps

  /** The number of a project that is there; null for all of them. */
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
        ...{ title, queue: PLAIN_QUEUE, ...work },
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

/** What is wrong with a definition is told of the field that it was made from. */
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

/** `nightly-backup-06w6zjf6m0a`: readable where names are, and nobody else's. */
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
