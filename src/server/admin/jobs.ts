import { PunctualError } from '../../core/errors.ts'
import { defaultsOf, encodeDefinition, type JobDefinition } from '../../core/job-definition.ts'
import { readExpectations } from '../../core/lapses/expectations.ts'
import { LIMITS } from '../../core/limits.ts'
import type { WireJob, WireJobVersion, WirePage } from '../../core/views.ts'
import { readWorkflow } from '../../core/workflow/read-workflow.ts'
import { formatTime } from '../../core/wire.ts'
import type { JobRecord, JobVersion, Store } from '../../store/port.ts'
import type { Catalog } from '../catalog.ts'
import { readNameCursor, readNumberCursor } from '../cursor.ts'
import type { Definitions } from '../definitions.ts'
import type { Actors } from './actors.ts'
import { auditOf, type By } from './by.ts'
import { pageLimit, pageOf } from './paging.ts'
import type { ScheduleDefining } from './schedule-defining.ts'
import type { ScheduleReading } from './schedule-reading.ts'

export interface Paging {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

/** Definitions of jobs, as people change and read them. */
export interface Jobs {
  /** `expect` is the version that must be in force, 0 for none; null for any. */
  put(
    by: By,
    name: string,
    definition: JobDefinition,
    expect: number | null,
  ): Promise<{ job: WireJob; isNew: boolean }>
  get(project: string, name: string): Promise<WireJob>
  list(project: string, paging: Paging): Promise<WirePage<WireJob>>
  versions(project: string, name: string, paging: Paging): Promise<WirePage<WireJobVersion>>
  remove(by: By, name: string, expect: number | null): Promise<void>
  pause(by: By, name: string, reason: string | null): Promise<WireJob>
  resume(by: By, name: string): Promise<WireJob>
}

const LARGEST_VERSION = 2 ** 31 - 1
const LIVE = ['ready', 'running', 'scheduled', 'blocked'] as const

export function createJobs(deps: {
  readonly store: Store
  readonly catalog: Catalog
  readonly definitions: Definitions
  readonly actors: Actors
  readonly defining: Pick<ScheduleDefining, 'plan'>
  readonly reading: Pick<ScheduleReading, 'show'>
  onScheduleChange(ids: readonly number[]): void
}): Jobs {
  const { store, catalog, definitions, actors } = deps

  const find = async (project: string, name: string) => {
    const projectId = await catalog.findProject(project)
    const record = projectId === null ? null : await store.findDefinition({ projectId, name })
    if (!record || projectId === null) throw unknown(name)
    return { projectId, record }
  }

  const get = async (project: string, name: string) => {
    const { projectId, record } = await find(project, name)
    const page = { projectId, jobId: record.id, after: 0, limit: LIMITS.schedules }
    const schedules = await deps.reading.show(await store.listSchedules(page))
    return { ...showJob(record, await actors.names()), schedules }
  }

  const setPause = async (by: By, name: string, pause: { reason: string | null } | null) => {
    const { projectId, record } = await find(by.project, name)
    const action = pause ? 'job.pause' : 'job.resume'
    const audit = auditOf(by, projectId, action, name, pause?.reason ? pause : null)
    if (!(await store.pauseJob({ projectId, name, pause, audit }))) throw unknown(name)
    definitions.forget(projectId, name)
    const page = { projectId, jobId: record.id, after: 0, limit: LIMITS.schedules }
    deps.onScheduleChange((await store.listSchedules(page)).map(({ id }) => id))
    return get(by.project, name)
  }

  return {
    get,

    async put(by, name, definition, expect) {
      // What a run of it would trip over is told now, to whoever can mend it.
      const { concurrency = [] } = defaultsOf(definition, name)
      readExpectations(definition, '')
      if (definition.steps !== undefined) readWorkflow(definition, { job: name })
      const declare = await deps.defining.plan(by, name, definition)
      const projectId = await catalog.project(by.project)
      const audit = auditOf(by, projectId, 'job.put', name, { definition })
      const text = encodeDefinition(definition)
      const { kind, version } = await store.putJob({
        ...{ projectId, name, definition: text, expect, audit },
        owner: definition.owner ?? null,
      })
      if (kind === 'conflict') throw conflict(name, version, expect)
      definitions.forget(projectId, name)
      // Also when nothing changed: somebody may have gone away between the two.
      await declare()
      // Limits are for those that wait as well, not only for the next to come.
      if (kind === 'put' && concurrency.length > 0) await catalog.gates(projectId, concurrency)
      return { job: await get(by.project, name), isNew: kind === 'put' && version === 1 }
    },

    async list(project, { limit, cursor }) {
      const after = readNameCursor(cursor)
      const projectId = await catalog.findProject(project)
      if (projectId === null) return { data: [], next_cursor: null }
      const size = pageLimit(limit)
      const rows = await store.listDefinitions({ projectId, after, limit: size + 1 })
      const nameOf = await actors.names()
      return pageOf(
        rows,
        size,
        (row) => showJob(row, nameOf),
        ({ name }) => name,
      )
    },

    async versions(project, name, { limit, cursor }) {
      const before = Math.min(readNumberCursor(cursor), LARGEST_VERSION)
      const { record } = await find(project, name)
      const size = pageLimit(limit)
      const rows = await store.jobVersions({ jobId: record.id, before, limit: size + 1 })
      const nameOf = await actors.names()
      return pageOf(
        rows,
        size,
        (row) => showVersion(row, nameOf),
        ({ version }) => version,
      )
    },

    async remove(by, name, expect) {
      const { projectId, record } = await find(by.project, name)
      for (const state of LIVE) {
        const page = { projectId, jobId: record.id, state, before: Number.MAX_SAFE_INTEGER }
        if ((await store.listRuns({ ...page, limit: 1 })).length === 0) continue
        throw new PunctualError('job_is_live', `runs of ${name} are ${state}`)
      }
      const audit = auditOf(by, projectId, 'job.delete', name)
      const verdict = await store.deleteJob({ projectId, name, expect, audit })
      definitions.forget(projectId, name)
      if (verdict === 'unknown') throw unknown(name)
      if (verdict === 'conflict') throw conflict(name, record.version, expect)
    },

    pause: (by, name, reason) => setPause(by, name, { reason }),
    resume: (by, name) => setPause(by, name, null),
  }
}

function showJob(record: JobRecord, nameOf: (actor: number | null) => string): WireJob {
  const { name, paused } = record
  const { created_at, created_by, ...rest } = showVersion(record, nameOf)
  return {
    name,
    ...rest,
    paused: paused && { since: formatTime(paused.at, 'since'), reason: paused.reason },
    updated_at: created_at,
    updated_by: created_by,
  }
}

function showVersion(
  { version, definition, createdAt, createdBy }: JobVersion,
  nameOf: (actor: number | null) => string,
): WireJobVersion {
  return {
    version,
    definition: JSON.parse(definition) as JobDefinition,
    created_at: formatTime(createdAt, 'created_at'),
    created_by: nameOf(createdBy),
  }
}

function unknown(name: string): PunctualError {
  return new PunctualError('job_not_found', `there is no job ${name}`)
}

function conflict(name: string, version: number, expect: number | null): PunctualError {
  if (expect === 0) return new PunctualError('job_exists', `the job ${name} is defined already`)
  const message = `the job ${name} is at version ${version}, not ${expect}`
  return new PunctualError('version_conflict', message)
}
