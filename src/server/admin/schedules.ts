import { PunctualError } from '../../core/errors.ts'
import { nextFrom } from '../../core/firing/plan.ts'
import { decodeSpec, encodeSpec, type SpecInput } from '../../core/firing/spec.ts'
import { LIMITS } from '../../core/limits.ts'
import { refusal } from '../../core/schedule-refusal.ts'
import type { RuleSource } from '../../core/schedule/index.ts'
import type { Submission, SubmitAnswer } from '../../core/protocol.ts'
import type { OccurrenceRecord, ScheduleRecord, ScheduleStore } from '../../store/port.ts'
import type { Catalog } from '../catalog.ts'
import type { RuleBook } from '../schedules/rule-book.ts'
import { auditOf, type By } from './by.ts'

/** What a schedule is to say; see `readSchedule` for how people say it. */
export type ScheduleInput = SpecInput<RuleSource>

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
  /** Throws what `put` would; `at` is where it stands in the request. */
  check(project: string, job: string, name: string, input: ScheduleInput, at: string): Promise<void>
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
  mintId(): number
  storeNow(): number
  onChange(ids: readonly number[]): void
  submit(by: By, submission: Submission): Promise<SubmitAnswer>
}): Schedules {
  const { store, catalog, rules, storeNow } = deps

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

  const change = (by: By, { projectId, id }: ScheduleRecord, action: string, target: string) => ({
    ...{ projectId, id, audit: auditOf(by, projectId, action, target) },
  })

  return {
    find,

    async put(by, job, name, input, expect = null) {
      const spec = specOf(input, `${by.project}/${job}/${name}`, '')
      const known = await lookFor(by.project, job, name)
      const isSame = known?.spec === spec && (expect === null || expect === known.version)
      // Also when it is over: nobody asks it to fire again.
      if (isSame) return { isNew: false, schedule: known }
      const projectId = await catalog.project(by.project)
      const [jobId] = await catalog.jobs(projectId, [job])
      const said = { rule: input.rule, overlap: input.overlap, missed: input.missed }
      const putAfter = (lastNominalAt: number) =>
        store.putSchedule({
          ...{ id: deps.mintId(), projectId, jobId: jobId as number, name, spec, expect },
          next: nextOf(rules, spec, '', Math.max(storeNow(), lastNominalAt)),
          most: LIMITS.schedules,
          audit: auditOf(by, projectId, 'schedule.put', `${job}/${name}`, said),
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
      deps.onChange([fate.id])
      return { isNew: fate.kind === 'created', schedule: await find(by.project, job, name) }
    },

    async check(project, job, name, input, at) {
      const spec = specOf(input, `${project}/${job}/${name}`, at)
      const known = await lookFor(project, job, name)
      if (known?.spec !== spec) nextOf(rules, spec, at, storeNow())
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
      deps.onChange([schedule.id])
      return find(by.project, job, name)
    },

    async resume(by, job, name) {
      const schedule = await find(by.project, job, name)
      await store.resumeSchedule(change(by, schedule, 'schedule.resume', `${job}/${name}`))
      deps.onChange([schedule.id])
      return find(by.project, job, name)
    },

    async skipNext(by, job, name) {
      const schedule = await find(by.project, job, name)
      const at = await store.skipNext(change(by, schedule, 'schedule.skip', `${job}/${name}`))
      deps.onChange([schedule.id])
      return at
    },

    async remove(by, job, name, expect = null) {
      const schedule = await find(by.project, job, name)
      const asked = change(by, schedule, 'schedule.delete', `${job}/${name}`)
      if ((await store.deleteSchedule({ ...asked, expect })) !== 'conflict') return
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

/** `H` and jitter are a hash of what tells this schedule from others. */
function specOf({ rule, ...rest }: ScheduleInput, seed: string, at: string): string {
  const spec = encodeSpec({ ...rest, rule: { seed, ...rule } })
  const { input } = decodeSpec(spec)
  const bytes = input === undefined ? 0 : Buffer.byteLength(JSON.stringify(input))
  if (bytes <= LIMITS.inlineBytes) return spec
  const field = `${at}input`
  const message = `${field} has ${bytes} bytes; a schedule may give its runs ${LIMITS.inlineBytes}`
  throw new PunctualError('invalid_field', message, { field })
}

function nextOf(rules: RuleBook, spec: string, at: string, after: number) {
  const understood = rules(spec)
  if (!understood.ok) throw refusal(at + understood.field, understood.error)
  const { times } = understood
  const next = nextFrom(times, times.next(after))
  if (next.nominalAt !== null) return next
  const field = understood.spec.rule.at === undefined ? 'end' : 'at'
  throw refusal(at + field, 'its last time is over', 'Choose a time to come.')
}
