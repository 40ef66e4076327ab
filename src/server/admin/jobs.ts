import { PunctualError } from '../../core/errors.ts'
import type { Clock } from '../../core/clock.ts'
import { encodingDefinition, type JobDefinition } from '../../core/job/job-definition.ts'
import { readExpectations } from '../../core/expectation/expectations.ts'
import { LIMITS } from '../../core/limits.ts'
import type { WirePage } from '../../core/wire/views.ts'
import type { WireJobVersion, WireWarning, WireJob } from '../../core/job/job-views.ts'
import type { OnWarning } from '../../core/expression/shell/shell-warnings.ts'
import { readJob } from '../../core/job/read-job.ts'
import { readingWorkflow } from '../../core/workflow/reading/read-workflow.ts'
import { sourceJobOf, type TriggerSource } from '../../core/workflow/triggers/triggers.ts'
import { formatTime } from '../../core/wire/runs.ts'
import type { JobRecord, JobVersion, ScheduleRecord, Store } from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import { readNameCursor, readNumberCursor } from '../paging/cursor.ts'
import type { Definitions } from '../definitions/definitions.ts'
import { runInSlices } from '../loops/run-in-slices.ts'
import type { KnownJobs } from '../definitions/known-jobs.ts'
import { readStoredJson } from '../json/stored-json.ts'
import type { AfterFiring } from '../schedules/after-firing.ts'
import type { Actors } from '../identity/actors.ts'
import { auditEntryFor, type RequestedBy } from '../identity/requested-by.ts'
import { gatherPage, pageLimit, type Paging } from '../paging/paging.ts'
import { refuseSelfNesting } from './refuse-self-nesting.ts'
import type { NamedSchedule, ScheduleDefiner } from './schedule-definer.ts'
import type { ScheduleReader } from './schedule-reader.ts'
import { cannotFollow, createFollowViews } from './follow-views.ts'

/** Definitions of jobs: changing and reading them. */
export interface JobAdmin {
  /**
   * `expect` is the version that must be current, 0 for none; null for any. The job and its
   * schedules, those of the definition and the `separateSchedules`, are written together or not at all.
   */
  put(
    by: RequestedBy,
    name: string,
    definition: JobDefinition,
    expect: number | null,
    separateSchedules?: readonly NamedSchedule[],
  ): Promise<{ job: WireJob; isNew: boolean }>
  get(project: string, name: string): Promise<WireJob>
  /** Throws if this node knows of no such job. */
  require(project: string, name: string): Promise<void>
  list(project: string, paging: Paging): Promise<WirePage<WireJob>>
  versions(project: string, name: string, paging: Paging): Promise<WirePage<WireJobVersion>>
  remove(by: RequestedBy, name: string, expect: number | null): Promise<void>
  pause(by: RequestedBy, name: string, reason: string | null): Promise<WireJob>
  resume(by: RequestedBy, name: string): Promise<WireJob>
}

/** What is written together with a definition. */
interface CompanionChanges {
  readonly expect: number | null
  readonly separateSchedules: readonly NamedSchedule[] | undefined
  readonly follows: readonly TriggerSource[]
}

const LARGEST_VERSION = 2 ** 31 - 1
/** How often another client may change schedules of the job while it is being written. */
const MOST_TRIES = 20
/** A hundred thousand steps may contain the same mistake. */
const MOST_WARNINGS = 100
const LIVE = ['ready', 'running', 'scheduled', 'blocked'] as const

export function createJobAdmin(deps: {
  readonly store: Store
  readonly catalog: CatalogCache
  readonly definitions: Definitions
  readonly actors: Actors
  readonly defining: Pick<ScheduleDefiner, 'plan'>
  readonly reading: Pick<ScheduleReader, 'show'>
  readonly clock: Pick<Clock, 'mono'>
  readonly afterFiring: AfterFiring
  readonly knownJobs: Pick<KnownJobs, 'hasHandler'>
  onScheduleChange(ids: readonly number[]): void
}): JobAdmin {
  const { store, catalog, definitions, actors, clock } = deps
  const followViews = createFollowViews(deps)

  const find = async (project: string, name: string) => {
    const projectId = await catalog.findProject(project)
    const record = projectId === null ? null : await store.findDefinition({ projectId, name })
    if (!record || projectId === null) throw unknown(name)
    return { projectId, record }
  }

  const definitionOf = async ({ definition }: Pick<JobVersion, 'definition'>) =>
    (await readStoredJson(definition, clock)) as JobDefinition

  const get = async (project: string, name: string, written?: KnownVersion) => {
    const { projectId, record } = await find(project, name)
    const page = { projectId, jobId: record.id, after: 0, limit: LIMITS.schedules }
    const schedules = await deps.reading.show(await store.listSchedules(page))
    const following = await followViews.of(projectId, record)
    const isAtHand = written?.version === record.version
    const definition = isAtHand ? written.definition : await definitionOf(record)
    return { ...showJob(record, await actors.names(), definition), schedules, ...following }
  }

  const setPause = async (
    by: RequestedBy,
    name: string,
    pause: { reason: string | null } | null,
  ) => {
    const { projectId, record } = await find(by.project, name)
    const action = pause ? 'job.pause' : 'job.resume'
    const audit = auditEntryFor(by, projectId, action, name, pause?.reason ? pause : null)
    if (!(await store.pauseJob({ projectId, name, pause, audit }))) throw unknown(name)
    definitions.forget(projectId, name)
    const page = { projectId, jobId: record.id, after: 0, limit: LIMITS.schedules }
    const schedules = await store.listSchedules(page)
    deps.onScheduleChange(schedules.map(({ id }) => id))
    await deps.afterFiring.of(schedules)
    return get(by.project, name)
  }

  /** Also unchanged schedules: their prepared firings were for the old definition. */
  const changed = async (projectId: number, name: string, removed: readonly ScheduleRecord[]) => {
    const jobId = await catalog.findJob(projectId, name)
    const page = { projectId, jobId, after: 0, limit: LIMITS.schedules }
    const schedules = jobId === null ? [] : await store.listSchedules(page)
    deps.onScheduleChange(schedules.map(({ id }) => id))
    await deps.afterFiring.of([...schedules, ...removed])
  }

  const write = async (
    by: RequestedBy,
    name: string,
    definition: JobDefinition,
    { expect, separateSchedules, follows }: CompanionChanges,
  ) => {
    const text = await runInSlices(encodingDefinition(definition), clock)
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const revisionIn = await deps.defining.plan(by, name, definition, separateSchedules)
      const projectId = await catalog.project(by.project)
      const audit = auditEntryFor(by, projectId, 'job.put', name, recorded(definition, text))
      const schedules = revisionIn(projectId)
      const removedIds = schedules.removes.map(({ id }) => id)
      const removed = removedIds.length > 0 ? await store.findSchedules(removedIds) : []
      const put = await store.putJob({
        projectId,
        name,
        definition: text,
        expect,
        schedules,
        audit,
        owner: definition.owner ?? null,
        hooks: definition.triggers?.flatMap(({ webhook }) => webhook ?? []) ?? [],
        follows: follows.map(({ job, outcome: wants }) => ({
          source: job,
          cause: sourceJobOf(job),
          wants,
        })),
      })
      if (put.kind === 'cycle' || put.kind === 'too_many') throw cannotFollow(put, follows)
      const { kind, version } = put
      if (kind === 'overtaken') continue
      definitions.forget(projectId, name)
      if (kind !== 'conflict') await changed(projectId, name, removed)
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

    async put(by, name, definition, expect, separateSchedules) {
      // Warns the author now about problems that a run would meet.
      const warnings: WireWarning[] = []
      const onWarning: OnWarning = ({ code, message, hint, field }) => {
        if (warnings.length < MOST_WARNINGS) warnings.push({ code, message, hint, field })
      }
      const { defaults, triggerSources: follows } = readJob(definition, name, onWarning)
      const runsHandler = defaults.work === undefined && (defaults.task ?? name) === name
      if (!runsHandler && (await deps.knownJobs.hasHandler(by.project, name))) {
        warnings.push(shadowsHandler(name))
      }
      const { concurrency = [] } = defaults
      readExpectations(definition, '')
      if (definition.steps !== undefined) {
        await runInSlices(readingWorkflow(definition, { job: name, onWarning }), clock)
        const projectId = await catalog.findProject(by.project)
        await refuseSelfNesting(projectId, name, definition, store)
      }
      const written = await write(by, name, definition, { expect, separateSchedules, follows })
      const { projectId, kind, version } = written
      if (kind === 'conflict') throw conflict(name, version, expect)
      // The limits apply to waiting runs as well, not only to future ones.
      if (kind === 'put' && concurrency.length > 0) await catalog.gates(projectId, concurrency)
      const job = await get(by.project, name, { version, definition })
      const warned = warnings.length === 0 ? job : { ...job, warnings }
      return { job: warned, isNew: kind === 'put' && version === 1 }
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

    async remove(by, name, expect) {
      const { projectId, record } = await find(by.project, name)
      for (const state of LIVE) {
        const page = { projectId, jobId: record.id, state, before: Number.MAX_SAFE_INTEGER }
        if ((await store.listRuns({ ...page, limit: 1 })).length === 0) continue
        throw new PunctualError('job_is_live', `runs of ${name} are ${state}`)
      }
      const page = { projectId, jobId: record.id, after: 0, limit: LIMITS.schedules }
      const schedules = await store.listSchedules(page)
      const audit = auditEntryFor(by, projectId, 'job.delete', name)
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

function shadowsHandler(name: string): WireWarning {
  return {
    code: 'shadows_handler',
    message: `workers have a handler ${name}; runs of the job ${name} do what its definition says, and no longer call it`,
    hint: `Give the job another name, or let it call the handler: \`task: ${name}\`.`,
    field: 'task',
  }
}

type NameOf = (actor: number | null) => string

/**
 * A version whose definition is already parsed: a text of a hundred thousand steps is not parsed
 * again to show it.
 */
type KnownVersion = Pick<WireJobVersion, 'version' | 'definition'>

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

/** A long definition is left out of the audit log; it can be found among the versions. */
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
