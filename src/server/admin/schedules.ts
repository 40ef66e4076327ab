import { PunctualError } from '../../core/errors.ts'
import { decodeSpec } from '../../core/schedule/firing/schedule-spec.ts'
import { LIMITS } from '../../core/limits.ts'
import type { Submission, SubmitAnswer } from '../../core/wire/protocol.ts'
import type { OccurrenceRecord, ScheduleRecord, ScheduleStore } from '../../store/port.ts'
import type { Catalog } from '../catalog/catalog-cache.ts'
import type { AfterFiring } from '../schedules/after-firing.ts'
import type { RuleBook } from '../schedules/rule-cache.ts'
import { auditOf, type By } from '../identity/requested-by.ts'
import { nextOf, saidOf, type ScheduleInput, seedOf, specOf } from './schedule-input.ts'

/** The schedules of jobs, as people change and read them. Firing sees every change at once. */
export interface Schedules {
  /** `expect`: only if that version is there (0: none); null for whatever is. */
  put(
    by: By,
    job: string,
    name: string,
    input: ScheduleInput,
    expect?: number | null,
  ): Promise<{ readonly isNew: boolean; readonly schedule: ScheduleRecord }>
  find(project: string, job: string, name: string): Promise<ScheduleRecord>
  /** By id above `after`; of one job, or with null of the project. */
  list(
    project: string,
    job: string | null,
    page: { after: number; limit: number },
  ): Promise<readonly ScheduleRecord[]>
  pause(
    by: By,
    job: string,
    name: string,
    pause: { until: number | null; reason: string | null },
  ): Promise<ScheduleRecord>
  resume(by: By, job: string, name: string): Promise<ScheduleRecord>
  /** The time that shall become no run. Null when there is none to come. */
  skipNext(by: By, job: string, name: string): Promise<number | null>
  /** `expect`: only if that version is there. */
  remove(by: By, job: string, name: string, expect?: number | null): Promise<void>
  /** A run like those it makes, now; the schedule does not notice. */
  runNow(by: By, job: string, name: string, idempotencyKey?: string): Promise<SubmitAnswer>
  /** What became of its times. */
  occurrences(
    schedule: Pick<ScheduleRecord, 'id'>,
    range: { from: number; until: number; limit: number },
  ): Promise<readonly OccurrenceRecord[]>
}

export function createSchedules(deps: {
  readonly store: ScheduleStore
  readonly catalog: Catalog
  readonly rules: RuleBook
  readonly afterFiring: AfterFiring
  mintId(): number
  storeNow(): number
  onChange(ids: readonly number[]): void
  submit(by: By, submission: Submission): Promise<SubmitAnswer>
}): Schedules {
  const { store, catalog, rules, storeNow, afterFiring } = deps

  const lookFor = async (
    project: string,
    job: string,
    name: string,
  ): Promise<ScheduleRecord | null> => {
    const projectId = await catalog.findProject(project)
    const jobId = projectId === null ? null : await catalog.findJob(projectId, job)
    return jobId === null ? null : store.findSchedule({ jobId, name })
  }

  const find = async (project: string, job: string, name: string): Promise<ScheduleRecord> => {
    const found = await lookFor(project, job, name)
    if (found) return found
    throw new PunctualError('schedule_not_found', `the job ${job} has no schedule ${name}`)
  }

  /** It is as somebody wanted it; they are told when nothing can come of it any more that they did not want. */
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

  const change = (by: By, { projectId, id }: ScheduleRecord, action: string, target: string) => ({
    ...{ projectId, id, audit: auditOf(by, projectId, action, target) },
  })

  return {
    find,

    async put(by, job, name, input, expect = null) {
      const spec = specOf(input, seedOf(by.project, job, name))
      const known = await lookFor(by.project, job, name)
      const isSame = known?.spec === spec && (expect === null || expect === known.version)
      // Also when it is over: nobody asks it to fire again.
      if (isSame) return { isNew: false, schedule: known }
      const projectId = await catalog.project(by.project)
      const [jobId] = await catalog.jobs(projectId, [job])
      const putAfter = (lastNominalAt: number) =>
        store.putSchedule({
          ...{ id: deps.mintId(), projectId, jobId: jobId as number, name, spec, expect },
          next: nextOf(rules, spec, Math.max(storeNow(), lastNominalAt)),
          most: LIMITS.schedules,
          audit: auditOf(by, projectId, 'schedule.put', `${job}/${name}`, saidOf(input)),
        })
      let fate = await putAfter(known?.lastNominalAt ?? 0)
      // It has fired since, and the clock was set back: so seldom that it need not be quick.
      while (fate.kind === 'overtaken') fate = await putAfter(fate.lastNominalAt)
      if (fate.kind === 'conflict') {
        throw new PunctualError('version_conflict', `it is at version ${fate.version}`)
      }
      if (fate.kind === 'full') {
        const message = `the job has ${LIMITS.schedules} schedules already`
        throw new PunctualError('too_many_schedules', message)
      }
      const schedule = await changed(by.project, job, name, fate.id)
      return { isNew: fate.kind === 'created', schedule }
    },

    async list(project, job, page) {
      const projectId = await catalog.findProject(project)
      if (projectId === null) return []
      const jobId = job === null ? null : await catalog.findJob(projectId, job)
      if (job !== null && jobId === null) return []
      return store.listSchedules({ projectId, jobId, ...page })
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
