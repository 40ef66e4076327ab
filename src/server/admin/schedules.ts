import { PunctualError } from '../../core/errors.ts'
import { decodeSpec } from '../../core/schedule/firing/schedule-spec.ts'
import { LIMITS } from '../../core/limits.ts'
import type { Submission, SubmitAnswer } from '../../core/wire/protocol.ts'
import type { OccurrenceRecord, ScheduleRecord, ScheduleStore } from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import type { AfterFiring } from '../schedules/firing/after-firing.ts'
import type { RuleCache } from '../schedules/rule-cache.ts'
import { auditEntryFor, type RequestedBy } from '../identity/requested-by.ts'
import { nextOf, storedFieldsOf, type ScheduleInput, seedOf, specOf } from './schedule-input.ts'

/** Schedules of jobs: changing and reading them. Firing sees every change at once. */
export interface ScheduleAdmin {
  /** `expect`: only if that version is current (0: none); null accepts any. */
  put(
    by: RequestedBy,
    job: string,
    name: string,
    input: ScheduleInput,
    expect?: number | null,
  ): Promise<{ readonly isNew: boolean; readonly schedule: ScheduleRecord }>
  find(project: string, job: string, name: string): Promise<ScheduleRecord>
  /** In order of ids above `after`; of one job, or with null of the whole project. */
  list(
    project: string,
    job: string | null,
    page: { after: number; limit: number },
  ): Promise<readonly ScheduleRecord[]>
  pause(
    by: RequestedBy,
    job: string,
    name: string,
    pause: { until: number | null; reason: string | null },
  ): Promise<ScheduleRecord>
  resume(by: RequestedBy, job: string, name: string): Promise<ScheduleRecord>
  /** The time that will be skipped. Null when there is no future time. */
  skipNext(by: RequestedBy, job: string, name: string): Promise<number | null>
  /** `expect`: only if that version is current. */
  remove(by: RequestedBy, job: string, name: string, expect?: number | null): Promise<void>
  /** Starts a run like those of the schedule, now; the schedule itself is not affected. */
  runNow(by: RequestedBy, job: string, name: string, idempotencyKey?: string): Promise<SubmitAnswer>
  /** The outcomes of its times. */
  occurrences(
    schedule: Pick<ScheduleRecord, 'id'>,
    range: { from: number; until: number; limit: number },
  ): Promise<readonly OccurrenceRecord[]>
}

export interface ScheduleAdminDeps {
  readonly store: ScheduleStore
  readonly catalog: CatalogCache
  readonly rules: RuleCache
  readonly afterFiring: AfterFiring
  mintId(): number
  storeNow(): number
  onChange(ids: readonly number[]): void
  submit(by: RequestedBy, submission: Submission): Promise<SubmitAnswer>
}

export function createScheduleAdmin(deps: ScheduleAdminDeps): ScheduleAdmin {
  const { store, afterFiring } = deps
  const lookup = createScheduleLookup(deps)
  const { find } = lookup

  /**
   * The change is stored; it is answered when earlier firings can no longer surprise the caller.
   */
  const changed = async (
    project: string,
    job: string,
    name: string,
    id: number,
  ): Promise<ScheduleRecord> => {
    deps.onChange([id])
    const schedule = await find(project, job, name)
    await afterFiring.of([schedule])
    return schedule
  }

  return {
    find,
    list: lookup.list,

    async put(by, job, name, input, expect = null) {
      const spec = specOf(input, seedOf(by.project, job, name))
      const known = await lookup.findOrNull(by.project, job, name)
      const isSame = known?.spec === spec && (expect === null || expect === known.version)
      // Also when it has ended: the user did not ask it to fire again.
      if (isSame) return { isNew: false, schedule: known }
      const stored = await storeSchedule(by, { job, name, input, spec, expect, known }, deps)
      const schedule = await changed(by.project, job, name, stored.id)
      return { isNew: stored.kind === 'created', schedule }
    },

    async pause(by, job, name, { until, reason }) {
      const schedule = await find(by.project, job, name)
      const asked = change(by, schedule, 'schedule.pause', `${job}/${name}`)
      await store.pauseSchedule({ ...asked, until, reason })
      return changed(by.project, job, name, schedule.id)
    },

    async resume(by, job, name) {
      const schedule = await find(by.project, job, name)
      await store.resumeSchedule(change(by, schedule, 'schedule.resume', `${job}/${name}`))
      return changed(by.project, job, name, schedule.id)
    },

    async skipNext(by, job, name) {
      const schedule = await find(by.project, job, name)
      const at = await store.skipNext(change(by, schedule, 'schedule.skip', `${job}/${name}`))
      await changed(by.project, job, name, schedule.id)
      return at
    },

    async remove(by, job, name, expect = null) {
      const schedule = await find(by.project, job, name)
      const asked = change(by, schedule, 'schedule.delete', `${job}/${name}`)
      const verdict = await store.deleteSchedule({ ...asked, expect })
      if (verdict !== 'conflict') return afterFiring.of([schedule])
      const { version } = await find(by.project, job, name)
      throw new PunctualError('version_conflict', `it is at version ${version}, not ${expect}`)
    },

    async runNow(by, job, name, idempotencyKey) {
      const { spec } = await find(by.project, job, name)
      const { input, priority } = decodeSpec(spec)
      return deps.submit(by, { job, input, priority, idempotencyKey })
    },

    occurrences: ({ id }, range) => store.occurrences({ scheduleId: id, ...range }),
  }
}

function createScheduleLookup({ store, catalog }: ScheduleAdminDeps): Pick<
  ScheduleAdmin,
  'find' | 'list'
> & {
  findOrNull(project: string, job: string, name: string): Promise<ScheduleRecord | null>
} {
  const findOrNull = async (
    project: string,
    job: string,
    name: string,
  ): Promise<ScheduleRecord | null> => {
    const projectId = await catalog.findProject(project)
    const jobId = projectId === null ? null : await catalog.findJob(projectId, job)
    return jobId === null ? null : store.findSchedule({ jobId, name })
  }

  const find = async (project: string, job: string, name: string): Promise<ScheduleRecord> => {
    const found = await findOrNull(project, job, name)
    if (found) return found
    throw new PunctualError('schedule_not_found', `the job ${job} has no schedule ${name}`)
  }

  return {
    find,
    findOrNull,

    async list(project, job, page) {
      const projectId = await catalog.findProject(project)
      if (projectId === null) return []
      const jobId = job === null ? null : await catalog.findJob(projectId, job)
      if (job !== null && jobId === null) return []
      return store.listSchedules({ projectId, jobId, ...page })
    },
  }
}

function change(
  by: RequestedBy,
  { projectId, id }: ScheduleRecord,
  action: string,
  target: string,
) {
  return {
    projectId,
    id,
    audit: auditEntryFor(by, projectId, action, target),
  }
}

/** Writes the schedule, or throws if that is refused. */
async function storeSchedule(
  by: RequestedBy,
  wanted: {
    readonly job: string
    readonly name: string
    readonly input: ScheduleInput
    readonly spec: string
    readonly expect: number | null
    readonly known: ScheduleRecord | null
  },
  deps: ScheduleAdminDeps,
) {
  const { job, name, input, spec, expect, known } = wanted
  const { store, catalog, rules, storeNow } = deps
  const projectId = await catalog.project(by.project)
  const [jobId] = await catalog.jobs(projectId, [job])
  const putAfter = (lastNominalAt: number) =>
    store.putSchedule({
      id: deps.mintId(),
      projectId,
      jobId: jobId as number,
      name,
      spec,
      expect,
      next: nextOf(rules, spec, Math.max(storeNow(), lastNominalAt)),
      maxSchedules: LIMITS.schedules,
      audit: auditEntryFor(by, projectId, 'schedule.put', `${job}/${name}`, storedFieldsOf(input)),
    })
  let stored = await putAfter(known?.lastNominalAt ?? 0)
  // It has fired since, and the clock was set back: too rare to be optimized.
  while (stored.kind === 'overtaken') stored = await putAfter(stored.lastNominalAt)
  if (stored.kind === 'conflict') {
    throw new PunctualError('version_conflict', `it is at version ${stored.version}`)
  }
  if (stored.kind === 'full') {
    const message = `the job has ${LIMITS.schedules} schedules already`
    throw new PunctualError('too_many_schedules', message)
  }
  return stored
}
