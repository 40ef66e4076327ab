import { PunctualError } from '../../core/errors.ts'
import type { Clock } from '../../core/clock.ts'
import { encodingDefinition, type JobDefinition } from '../../core/job/job-definition.ts'
import { readExpectations } from '../../core/expectation/expectations.ts'
import { LIMITS } from '../../core/limits.ts'
import type { WireJob, WireJobVersion, WirePage } from '../../core/wire/views.ts'
import { readJob } from '../../core/job/read-job.ts'
import { readingWorkflow } from '../../core/workflow/read-workflow.ts'
import { causeOf, type Followed } from '../../core/workflow/triggers.ts'
import { formatTime } from '../../core/wire/runs.ts'
import type { JobRecord, JobVersion, ScheduleRecord, Store } from '../../store/port.ts'
import type { Catalog } from '../catalog/catalog-cache.ts'
import { readNameCursor, readNumberCursor } from '../paging/cursor.ts'
import type { Definitions } from '../definitions/definitions.ts'
import { inTurns } from '../loops/run-in-slices.ts'
import type { AfterFiring } from '../schedules/after-firing.ts'
import type { Actors } from '../identity/actors.ts'
import { auditOf, type By } from '../identity/requested-by.ts'
import { pageLimit, pageOf } from '../paging/paging.ts'
import { refuseInsideItself } from './refuse-self-nesting.ts'
import type { NamedSchedule, ScheduleDefining } from './schedule-definer.ts'
import type { ScheduleReading } from './schedule-reader.ts'
import { cannotFollow, createFollowViews } from './follow-views.ts'

export interface Paging {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

/** Definitions of jobs, as people change and read them. */
export interface Jobs {
  /**
   * `expect` is the version that must be in force, 0 for none; null for any. The job and its
   * schedules, those of the definition and those `beside` it, become so together or not at all.
   */
  put(
    by: By,
    name: string,
    definition: JobDefinition,
    expect: number | null,
    beside?: readonly NamedSchedule[],
  ): Promise<{ job: WireJob; isNew: boolean }>
  get(project: string, name: string): Promise<WireJob>
  /** Throws if there is no such job, as far as this node knows. */
  require(project: string, name: string): Promise<void>
  list(project: string, paging: Paging): Promise<WirePage<WireJob>>
  versions(project: string, name: string, paging: Paging): Promise<WirePage<WireJobVersion>>
  remove(by: By, name: string, expect: number | null): Promise<void>
  pause(by: By, name: string, reason: string | null): Promise<WireJob>
  resume(by: By, name: string): Promise<WireJob>
}

/** What is written with a definition. */
interface Beside {
  readonly expect: number | null
  readonly beside: readonly NamedSchedule[] | undefined
  readonly follows: readonly Followed[]
}

const LARGEST_VERSION = 2 ** 31 - 1
/** How often somebody else may change schedules of a job while it is decided about them. */
const MOST_TRIES = 20
const LIVE = ['ready', 'running', 'scheduled', 'blocked'] as const

export function createJobs(deps: {
  readonly store: Store
  readonly catalog: Catalog
  readonly definitions: Definitions
  readonly actors: Actors
  readonly defining: Pick<ScheduleDefining, 'plan'>
  readonly reading: Pick<ScheduleReading, 'show'>
  readonly clock: Pick<Clock, 'mono'>
  readonly afterFiring: AfterFiring
  onScheduleChange(ids: readonly number[]): void
}): Jobs {
  const { store, catalog, definitions, actors, clock } = deps
  const followViews = createFollowViews(deps)

  const find = async (project: string, name: string) => {
    const projectId = await catalog.findProject(project)
    const record = projectId === null ? null : await store.findDefinition({ projectId, name })
    if (!record || projectId === null) throw unknown(name)
    return { projectId, record }
  }

  const get = async (project: string, name: string, written?: Written) => {
    const { projectId, record } = await find(project, name)
    const page = { projectId, jobId: record.id, after: 0, limit: LIMITS.schedules }
    const schedules = await deps.reading.show(await store.listSchedules(page))
    const following = await followViews.of(projectId, record)
    return { ...showJob(record, await actors.names(), written), schedules, ...following }
  }

  const setPause = async (by: By, name: string, pause: { reason: string | null } | null) => {
    const { projectId, record } = await find(by.project, name)
    const action = pause ? 'job.pause' : 'job.resume'
    const audit = auditOf(by, projectId, action, name, pause?.reason ? pause : null)
    if (!(await store.pauseJob({ projectId, name, pause, audit }))) throw unknown(name)
    definitions.forget(projectId, name)
    const page = { projectId, jobId: record.id, after: 0, limit: LIMITS.schedules }
    const schedules = await store.listSchedules(page)
    deps.onScheduleChange(schedules.map(({ id }) => id))
    await deps.afterFiring.of(schedules)
    return get(by.project, name)
  }

  /** Also of schedules that are as they were: what was thought out for them was for the job as it was. */
  const changed = async (projectId: number, name: string, gone: readonly ScheduleRecord[]) => {
    const jobId = await catalog.findJob(projectId, name)
    const page = { projectId, jobId, after: 0, limit: LIMITS.schedules }
    const schedules = jobId === null ? [] : await store.listSchedules(page)
    deps.onScheduleChange(schedules.map(({ id }) => id))
    await deps.afterFiring.of([...schedules, ...gone])
  }

  const write = async (
    by: By,
    name: string,
    definition: JobDefinition,
    { expect, beside, follows }: Beside,
  ) => {
    const text = await inTurns(encodingDefinition(definition), clock)
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const revisionIn = await deps.defining.plan(by, name, definition, beside)
      const projectId = await catalog.project(by.project)
      const audit = auditOf(by, projectId, 'job.put', name, recorded(definition, text))
      const schedules = revisionIn(projectId)
      const removed = schedules.removes.map(({ id }) => id)
      const gone = removed.length > 0 ? await store.findSchedules(removed) : []
      const put = await store.putJob({
        ...{ projectId, name, definition: text, expect, schedules, audit },
        owner: definition.owner ?? null,
        hooks: definition.triggers?.flatMap(({ webhook }) => webhook ?? []) ?? [],
        follows: follows.map(({ job, wants }) => ({ source: job, cause: causeOf(job), wants })),
      })
      if (put.kind === 'circle' || put.kind === 'crowded') throw cannotFollow(put, follows)
      const { kind, version } = put
      if (kind === 'overtaken') continue
      definitions.forget(projectId, name)
      if (kind !== 'conflict') await changed(projectId, name, gone)
      return { projectId, kind, version }
    }
    throw new PunctualError('version_conflict', `schedules of ${name} are being changed`)
  }

  return {
    get,

    async require(project, name) {
      const projectId = await catalog.findProject(project)
      const found = projectId === null ? null : await definitions.find(projectId, name)
      if (!found) throw unknown(name)
    },

    async put(by, name, definition, expect, beside) {
      // What a run of it would trip over is told now, to whoever can mend it.
      const { defaults, follows } = readJob(definition, name)
      const { concurrency = [] } = defaults
      readExpectations(definition, '')
      if (definition.steps !== undefined) {
        await inTurns(readingWorkflow(definition, { job: name }), clock)
        const projectId = await catalog.findProject(by.project)
        await refuseInsideItself(projectId, name, definition, store)
      }
      const written = await write(by, name, definition, { expect, beside, follows })
      const { projectId, kind, version } = written
      if (kind === 'conflict') throw conflict(name, version, expect)
      // Limits are for those that wait as well, not only for the next to come.
      if (kind === 'put' && concurrency.length > 0) await catalog.gates(projectId, concurrency)
      const job = await get(by.project, name, { version, definition })
      return { job, isNew: kind === 'put' && version === 1 }
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
      const page = { projectId, jobId: record.id, after: 0, limit: LIMITS.schedules }
      const schedules = await store.listSchedules(page)
      const audit = auditOf(by, projectId, 'job.delete', name)
      const verdict = await store.deleteJob({ projectId, name, expect, audit })
      definitions.forget(projectId, name)
      if (verdict === 'unknown') throw unknown(name)
      if (verdict === 'conflict') throw conflict(name, record.version, expect)
      await deps.afterFiring.of(schedules)
    },

    pause: (by, name, reason) => setPause(by, name, { reason }),
    resume: (by, name) => setPause(by, name, null),
  }
}

type NameOf = (actor: number | null) => string

/** A version whose meaning is at hand: a text of a hundred thousand steps is not read again to be shown. */
type Written = Pick<WireJobVersion, 'version' | 'definition'>

function showJob(record: JobRecord, nameOf: NameOf, written?: Written): WireJob {
  const { name, paused } = record
  const { created_at, created_by, ...rest } = showVersion(record, nameOf, written)
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
  nameOf: NameOf,
  written?: Written,
): WireJobVersion {
  const isAtHand = written?.version === version
  return {
    version,
    definition: isAtHand ? written.definition : (JSON.parse(definition) as JobDefinition),
    created_at: formatTime(createdAt, 'created_at'),
    created_by: nameOf(createdBy),
  }
}

/** A definition that would be long for a record is one to be looked up among the versions. */
function recorded(definition: JobDefinition, text: string): object {
  const bytes = Buffer.byteLength(text)
  return bytes > LIMITS.inlineBytes ? { definition_bytes: bytes } : { definition }
}

function unknown(name: string): PunctualError {
  return new PunctualError('job_not_found', `there is no job ${name}`)
}

function conflict(name: string, version: number, expect: number | null): PunctualError {
  if (expect === 0) return new PunctualError('job_exists', `the job ${name} is defined already`)
  const message = `the job ${name} is at version ${version}, not ${expect}`
  return new PunctualError('version_conflict', message)
}
