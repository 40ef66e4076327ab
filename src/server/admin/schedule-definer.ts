import { PunctualError } from '../../core/errors.ts'
import { decodeSpec } from '../../core/schedule/firing/schedule-spec.ts'
import { type JobDefinition, schedulesIn } from '../../core/job/job-definition.ts'
import { LIMITS } from '../../core/limits.ts'
import {
  readSchedule,
  type ScheduleDefinition,
} from '../../core/schedule/definition/schedule-definition.ts'
import type { JobStore, ScheduleRecord, ScheduleRevision } from '../../store/port.ts'
import type { Catalog } from '../catalog/catalog-cache.ts'
import type { RuleBook } from '../schedules/rule-cache.ts'
import { auditOf, type By } from '../identity/requested-by.ts'
import { nextOf, saidOf, type ScheduleInput, seedOf, specOf } from './schedule-input.ts'
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
   * Reads the schedules of a definition, and throws what is wrong with any of them. Those that are
   * named shall be made or changed, and those that stood there before and no longer do, deleted.
   * Others, made by themselves, are left alone, but for those that come `beside` the definition. The
   * project may not be there before all this is known to be right.
   */
  plan(
    by: By,
    job: string,
    definition: JobDefinition,
    beside?: readonly NamedSchedule[],
  ): Promise<(projectId: number) => ScheduleRevision>
}

export interface NamedSchedule {
  readonly name: string
  readonly input: ScheduleInput
}

export function createScheduleDefining(deps: {
  readonly store: Pick<JobStore, 'findDefinition'>
  readonly catalog: Pick<Catalog, 'findProject'>
  readonly schedules: Pick<Schedules, 'list' | 'put'>
  readonly rules: RuleBook
  mintId(): number
  storeNow(): number
  /** Where local times are local to, unless a schedule says. */
  readonly zone: string
}): ScheduleDefining {
  const { store, catalog, schedules, rules, zone } = deps

  const requireJob = async (project: string, name: string) => {
    const projectId = await catalog.findProject(project)
    const job = projectId === null ? null : await store.findDefinition({ projectId, name })
    if (!job) throw new PunctualError('job_not_found', `there is no job ${name}`)
  }

  const read = (by: By, job: string, name: string, definition: ScheduleDefinition, at: string) =>
    readSchedule(definition, { zone, seed: seedOf(by.project, job, name), at })

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

    async plan(by, job, definition, beside = []) {
      const declared = schedulesIn(definition).map(({ name, at, definition: said }) => {
        return { name, at, input: { ...read(by, job, name, said, at), declared: true as const } }
      })
      const wanted = [...declared, ...beside.map((one) => ({ ...one, at: '' }))]
      const there = await allOf(by.project, job)
      const known = new Map(there.map((one) => [one.name, one]))
      const names = new Set(wanted.map(({ name }) => name))
      const unnamed = there.filter(({ name }) => !names.has(name))
      const gone = unnamed.filter(isDeclared)
      if (unnamed.length - gone.length + names.size > LIMITS.schedules) throw tooMany()

      const puts = wanted.flatMap(({ name, at, input }) => {
        const spec = specOf(input, seedOf(by.project, job, name), at)
        const before = known.get(name)
        // Also when it is over: nobody asks it to fire again.
        if (before?.spec === spec) return []
        const after = Math.max(deps.storeNow(), before?.lastNominalAt ?? 0)
        const id = before?.id ?? deps.mintId()
        return [{ id, name, spec, next: nextOf(rules, spec, after, at), said: saidOf(input) }]
      })
      return (projectId) => {
        const note = (action: string, name: string, said?: object) =>
          auditOf(by, projectId, `schedule.${action}`, `${job}/${name}`, said)
        return {
          seen: there.map(({ id, version }) => ({ id, version })),
          puts: puts.map(({ said, ...put }) => ({ ...put, audit: note('put', put.name, said) })),
          removes: gone.map(({ id, name }) => ({ id, audit: note('delete', name) })),
        }
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
