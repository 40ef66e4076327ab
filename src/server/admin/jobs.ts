import { PunctualError } from '../../core/errors.ts'
import { encodingDefinition, type JobDefinition } from '../../core/job/job-definition.ts'
import { readExpectations } from '../../core/expectation/expectations.ts'
import { LIMITS } from '../../core/limits.ts'
import type { WirePage } from '../../core/wire/views.ts'
import type { WireJobVersion, WireWarning, WireJob } from '../../core/job/job-views.ts'
import type { OnWarning } from '../../core/expression/shell/shell-warnings.ts'
import { readJob } from '../../core/job/read-job.ts'
import { readingWorkflow } from '../../core/workflow/reading/read-workflow.ts'
import { sourceJobOf, type TriggerSource } from '../../core/workflow/triggers/triggers.ts'
import type { ScheduleRecord } from '../../store/port.ts'
import { runInSlices } from '../loops/run-in-slices.ts'
import type { KnownJobs } from '../definitions/known-jobs.ts'
import type { AfterFiring } from '../schedules/firing/after-firing.ts'
import { auditEntryFor, type RequestedBy } from '../identity/requested-by.ts'
import type { Paging } from '../paging/paging.ts'
import { refuseSelfNesting } from './refuse-self-nesting.ts'
import type { NamedSchedule, ScheduleDefiner } from './schedule-definer.ts'
import { cannotFollow } from './follow-views.ts'
import {
  createJobReader,
  type JobReader,
  type JobReaderDeps,
  unknownJobName,
} from './job-reader.ts'

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

/** How often another client may change schedules of the job while it is being written. */
const MOST_TRIES = 20
/** A hundred thousand steps may contain the same mistake. */
const MOST_WARNINGS = 100
const LIVE = ['ready', 'running', 'scheduled', 'blocked'] as const

export interface JobAdminDeps extends JobReaderDeps {
  readonly defining: Pick<ScheduleDefiner, 'plan'>
  readonly afterFiring: AfterFiring
  readonly knownJobs: Pick<KnownJobs, 'hasHandler'>
  onScheduleChange(ids: readonly number[]): void
}

export function createJobAdmin(deps: JobAdminDeps): JobAdmin {
  const { store, catalog, definitions } = deps
  const reader = createJobReader(deps)

  const setPause = async (
    by: RequestedBy,
    name: string,
    pause: { reason: string | null } | null,
  ) => {
    const { projectId, record } = await reader.find(by.project, name)
    const action = pause ? 'job.pause' : 'job.resume'
    const audit = auditEntryFor(by, projectId, action, name, pause?.reason ? pause : null)
    if (!(await store.pauseJob({ projectId, name, pause, audit }))) throw unknownJobName(name)
    definitions.forget(projectId, name)
    const page = { projectId, jobId: record.id, after: 0, limit: LIMITS.schedules }
    const schedules = await store.listSchedules(page)
    deps.onScheduleChange(schedules.map(({ id }) => id))
    await deps.afterFiring.of(schedules)
    return reader.get(by.project, name)
  }

  return {
    get: (project, name) => reader.get(project, name),
    require: reader.require,
    list: reader.list,
    versions: reader.versions,

    async put(by, name, definition, expect, separateSchedules) {
      const checked = await checkDefinition(by, name, definition, deps)
      const { warnings, follows, concurrency } = checked
      const companions = { expect, separateSchedules, follows }
      const written = await writeJob(by, name, definition, companions, deps)
      const { projectId, kind, version } = written
      if (kind === 'conflict') throw conflict(name, version, expect)
      // The limits apply to waiting runs as well, not only to future ones.
      if (kind === 'put' && concurrency.length > 0) await catalog.gates(projectId, concurrency)
      const job = await reader.get(by.project, name, { version, definition })
      const warned = warnings.length === 0 ? job : { ...job, warnings }
      return { job: warned, isNew: kind === 'put' && version === 1 }
    },

    remove: (by, name, expect) => removeJob(by, name, expect, reader, deps),
    pause: (by, name, reason) => setPause(by, name, { reason }),
    resume: (by, name) => setPause(by, name, null),
  }
}

/** Refuses a wrong definition; collects warnings about problems that its runs would meet. */
async function checkDefinition(
  by: RequestedBy,
  name: string,
  definition: JobDefinition,
  { store, catalog, clock, knownJobs }: JobAdminDeps,
): Promise<{
  readonly warnings: readonly WireWarning[]
  readonly follows: readonly TriggerSource[]
  readonly concurrency: readonly { readonly key: string; readonly limit: number }[]
}> {
  const warnings: WireWarning[] = []
  const onWarning: OnWarning = ({ code, message, hint, field }) => {
    if (warnings.length < MOST_WARNINGS) warnings.push({ code, message, hint, field })
  }
  const { defaults, triggerSources: follows } = readJob(definition, name, onWarning)
  const runsHandler = defaults.work === undefined && (defaults.task ?? name) === name
  if (!runsHandler && (await knownJobs.hasHandler(by.project, name))) {
    warnings.push(shadowsHandler(name))
  }
  const { concurrency = [] } = defaults
  readExpectations(definition, '')
  if (definition.steps !== undefined) {
    await runInSlices(readingWorkflow(definition, { job: name, onWarning }), clock)
    const projectId = await catalog.findProject(by.project)
    await refuseSelfNesting(projectId, name, definition, store)
  }
  return { warnings, follows, concurrency }
}

/** Writes the definition and its schedules; repeated if its schedules change meanwhile. */
async function writeJob(
  by: RequestedBy,
  name: string,
  definition: JobDefinition,
  { expect, separateSchedules, follows }: CompanionChanges,
  deps: JobAdminDeps,
) {
  const { store, catalog, definitions, clock } = deps
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
    if (kind !== 'conflict') await schedulesChanged(projectId, name, removed, deps)
    return { projectId, kind, version }
  }
  throw new PunctualError('version_conflict', `schedules of ${name} are being changed`)
}

/** Also unchanged schedules: their prepared firings were for the old definition. */
async function schedulesChanged(
  projectId: number,
  name: string,
  removed: readonly ScheduleRecord[],
  { store, catalog, afterFiring, onScheduleChange }: JobAdminDeps,
): Promise<void> {
  const jobId = await catalog.findJob(projectId, name)
  const page = { projectId, jobId, after: 0, limit: LIMITS.schedules }
  const schedules = jobId === null ? [] : await store.listSchedules(page)
  onScheduleChange(schedules.map(({ id }) => id))
  await afterFiring.of([...schedules, ...removed])
}

async function removeJob(
  by: RequestedBy,
  name: string,
  expect: number | null,
  reader: JobReader,
  { store, definitions, afterFiring }: JobAdminDeps,
): Promise<void> {
  const { projectId, record } = await reader.find(by.project, name)
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
  if (verdict === 'unknown') throw unknownJobName(name)
  if (verdict === 'conflict') throw conflict(name, record.version, expect)
  await afterFiring.of(schedules)
}

function shadowsHandler(name: string): WireWarning {
  return {
    code: 'shadows_handler',
    message: `workers have a handler ${name}; runs of the job ${name} do what its definition says, and no longer call it`,
    hint: `Give the job another name, or let it call the handler: \`task: ${name}\`.`,
    field: 'task',
  }
}

/** A long definition is left out of the audit log; it can be found among the versions. */
function recorded(definition: JobDefinition, text: string): object {
  const bytes = Buffer.byteLength(text)
  return bytes > LIMITS.inlineBytes ? { definition_bytes: bytes } : { definition }
}

function conflict(name: string, version: number, expect: number | null): PunctualError {
  if (expect === 0) return new PunctualError('job_exists', `the job ${name} is defined already`)
  const message = `the job ${name} is at version ${version}, not ${expect}`
  return new PunctualError('version_conflict', message)
}
