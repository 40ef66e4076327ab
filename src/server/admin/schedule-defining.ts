import { PunctualError } from '../../core/errors.ts'
import { decodeSpec } from '../../core/firing/spec.ts'
import { type JobDefinition, schedulesIn } from '../../core/job-definition.ts'
import { LIMITS } from '../../core/limits.ts'
import { readSchedule, type ScheduleDefinition } from '../../core/schedule-definition.ts'
import type { JobStore, ScheduleRecord } from '../../store/port.ts'
import type { Catalog } from '../catalog.ts'
import type { By } from './by.ts'
import type { Schedules } from './schedules.ts'

/** Schedules as people write them: by themselves, or within the definition of their job. */
export interface ScheduleDefining {
  /** `expect`: only if that version is there (0: none); null for whatever is. */
  put(
    by: By,
    job: string,
    name: string,
    definition: ScheduleDefinition,
    expect: number | null,
  ): Promise<{ readonly isNew: boolean }>
  /**
   * Reads the schedules of a definition, and throws what is wrong with any of them. What it answers
   * with makes them so: those that are named are made or changed, and those that stood there before
   * and no longer do are deleted. Others, made by themselves, are left alone. It may be repeated.
   */
  plan(by: By, job: string, definition: JobDefinition): Promise<() => Promise<void>>
}

export function createScheduleDefining(deps: {
  readonly store: Pick<JobStore, 'findDefinition'>
  readonly catalog: Pick<Catalog, 'findProject'>
  readonly schedules: Schedules
  /** Where local times are local to, unless a schedule says. */
  readonly zone: string
}): ScheduleDefining {
  const { store, catalog, schedules, zone } = deps

  const requireJob = async (project: string, name: string) => {
    const projectId = await catalog.findProject(project)
    const job = projectId === null ? null : await store.findDefinition({ projectId, name })
    if (!job) throw new PunctualError('job_not_found', `there is no job ${name}`)
  }

  const read = (by: By, job: string, name: string, definition: ScheduleDefinition, at: string) =>
    readSchedule(definition, { zone, seed: `${by.project}/${job}/${name}`, at })

  const allOf = (project: string, job: string) =>
    schedules.list(project, job, { after: 0, limit: LIMITS.schedules })

  return {
    async put(by, job, name, definition, expect) {
      await requireJob(by.project, job)
      const input = read(by, job, name, definition, '')
      const there = (await allOf(by.project, job)).find((one) => one.name === name)
      // Whose it is does not change with what it says.
      const declared = there && isDeclared(there) ? { declared: true as const } : {}
      return schedules.put(by, job, name, { ...input, ...declared }, expect)
    },

    async plan(by, job, definition) {
      const declared = schedulesIn(definition).map(({ name, at, definition: said }) => {
        return { name, at, input: { ...read(by, job, name, said, at), declared: true as const } }
      })
      for (const { name, at, input } of declared) {
        await schedules.check(by.project, job, name, input, at)
      }
      const there = await allOf(by.project, job)
      const names = new Set(declared.map(({ name }) => name))
      const unnamed = there.filter(({ name }) => !names.has(name))
      const gone = unnamed.filter(isDeclared)
      if (unnamed.length - gone.length + names.size > LIMITS.schedules) throw tooMany()
      return async () => {
        // First, so that there is room for those that come.
        for (const { name } of gone) await schedules.remove(by, job, name)
        for (const { name, input } of declared) await schedules.put(by, job, name, input)
      }
    },
  }
}

function isDeclared({ spec }: ScheduleRecord): boolean {
  return decodeSpec(spec).declared ?? false
}

function tooMany(): PunctualError {
  const message = `the job would have more than ${LIMITS.schedules} schedules`
  return new PunctualError('too_many_schedules', message, { field: 'schedule' })
}
