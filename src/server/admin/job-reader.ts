import type { Clock } from '../../core/clock.ts'
import { PunctualError } from '../../core/errors.ts'
import type { JobDefinition } from '../../core/job/job-definition.ts'
import type { WireJob, WireJobVersion } from '../../core/job/job-views.ts'
import { LIMITS } from '../../core/limits.ts'
import { formatTime } from '../../core/wire/runs.ts'
import type { JobRecord, JobVersion, Store } from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import type { Definitions } from '../definitions/definitions.ts'
import type { Actors } from '../identity/actors.ts'
import { readStoredJson } from '../json/stored-json.ts'
import { readNameCursor, readNumberCursor } from '../paging/cursor.ts'
import { gatherPage, pageLimit } from '../paging/paging.ts'
import { createFollowViews } from './follow-views.ts'
import type { JobAdmin } from './jobs.ts'
import type { ScheduleReader } from './schedule-reader.ts'

const LARGEST_VERSION = 2 ** 31 - 1

/** Reads definitions of jobs. */
export interface JobReader extends Pick<JobAdmin, 'require' | 'list' | 'versions'> {
  /** Throws if the project has no such job. */
  find(project: string, name: string): Promise<{ projectId: number; record: JobRecord }>
  /** `written`: this version was just written, so its definition need not be parsed. */
  get(project: string, name: string, written?: KnownVersion): Promise<WireJob>
}

export interface JobReaderDeps {
  readonly store: Store
  readonly catalog: CatalogCache
  readonly definitions: Definitions
  readonly actors: Actors
  readonly reading: Pick<ScheduleReader, 'show'>
  readonly clock: Pick<Clock, 'mono'>
}

export function createJobReader(deps: JobReaderDeps): JobReader {
  const { store, catalog, definitions, actors, clock } = deps
  const followViews = createFollowViews(deps)

  const find = async (project: string, name: string) => {
    const projectId = await catalog.findProject(project)
    const record = projectId === null ? null : await store.findDefinition({ projectId, name })
    if (!record || projectId === null) throw unknownJobName(name)
    return { projectId, record }
  }

  const definitionOf = async ({ definition }: Pick<JobVersion, 'definition'>) =>
    (await readStoredJson(definition, clock)) as JobDefinition

  return {
    find,

    async get(project, name, written) {
      const { projectId, record } = await find(project, name)
      const page = { projectId, jobId: record.id, after: 0, limit: LIMITS.schedules }
      const schedules = await deps.reading.show(await store.listSchedules(page))
      const following = await followViews.of(projectId, record)
      const isAtHand = written?.version === record.version
      const definition = isAtHand ? written.definition : await definitionOf(record)
      return { ...showJob(record, await actors.names(), definition), schedules, ...following }
    },

    async require(project, name) {
      const projectId = await catalog.findProject(project)
      const found = projectId === null ? null : await definitions.find(projectId, name)
      if (!found) throw unknownJobName(name)
    },

    async list(project, { limit, cursor }) {
      const after = readNameCursor(cursor)
      const projectId = await catalog.findProject(project)
      if (projectId === null) return { data: [], next_cursor: null }
      const size = pageLimit(limit)
      const nameOf = await actors.names()
      return gatherPage<JobRecord, WireJob>({
        size,
        sizeOf,
        fetch: (last, count) =>
          store.listDefinitions({ projectId, after: last?.name ?? after, limit: count }),
        show: async (row) => showJob(row, nameOf, await definitionOf(row)),
        cursorOf: ({ name }) => name,
      })
    },

    async versions(project, name, { limit, cursor }) {
      const before = Math.min(readNumberCursor(cursor), LARGEST_VERSION)
      const { record } = await find(project, name)
      const size = pageLimit(limit)
      const nameOf = await actors.names()
      return gatherPage<JobVersion, WireJobVersion>({
        size,
        sizeOf,
        fetch: (last, count) =>
          store.jobVersions({ jobId: record.id, before: last?.version ?? before, limit: count }),
        show: async (row) => showVersion(row, nameOf, await definitionOf(row)),
        cursorOf: ({ version }) => version,
      })
    },
  }
}

type NameOf = (actor: number | null) => string

/**
 * A version whose definition is already parsed: a text of a hundred thousand steps is not parsed
 * again to show it.
 */
export type KnownVersion = Pick<WireJobVersion, 'version' | 'definition'>

function sizeOf({ definition }: JobVersion): number {
  return definition.length
}

function showJob(record: JobRecord, nameOf: NameOf, definition: JobDefinition): WireJob {
  const { name, paused } = record
  const { created_at, created_by, ...rest } = showVersion(record, nameOf, definition)
  return {
    name,
    ...rest,
    paused: paused && { since: formatTime(paused.at, 'since'), reason: paused.reason },
    updated_at: created_at,
    updated_by: created_by,
  }
}

function showVersion(
  { version, createdAt, createdBy }: JobVersion,
  nameOf: NameOf,
  definition: JobDefinition,
): WireJobVersion {
  return {
    version,
    definition,
    created_at: formatTime(createdAt, 'created_at'),
    created_by: nameOf(createdBy),
  }
}

export function unknownJobName(name: string): PunctualError {
  return new PunctualError('job_not_found', `there is no job ${name}`)
}
