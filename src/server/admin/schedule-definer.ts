import { PunctualError } from '../../core/errors.ts'
import { decodeSpec } from '../../core/schedule/firing/schedule-spec.ts'
import { type JobDefinition, schedulesIn } from '../../core/job/job-definition.ts'
import { LIMITS } from '../../core/limits.ts'
import {
  readSchedule,
  type ScheduleDefinition,
} from '../../core/schedule/definition/schedule-definition.ts'
import type { JobStore, ScheduleRecord, ScheduleRevision } from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import type { RuleCache } from '../schedules/rule-cache.ts'
import { auditEntryFor, type RequestedBy } from '../identity/requested-by.ts'
import { nextOf, storedFieldsOf, type ScheduleInput, seedOf, specOf } from './schedule-input.ts'
import type { ScheduleAdmin } from './schedules.ts'

/** Defines schedules, separately or within the definition of their job. */
export interface ScheduleDefiner {
  /** `expect`: only if that version is current (0: none); null accepts any. */
  put(
    by: RequestedBy,
    job: string,
    name: string,
    definition: ScheduleDefinition,
    expect: number | null,
  ): Promise<{ readonly isNew: boolean }>
  /**
   * Reads the schedules of a definition and throws the first error. Schedules in the definition are
   * created or changed, and those of the previous definition that are missing now are deleted.
   * Separately defined schedules stay, except those among `separateSchedules`, which are created or changed
   * as well; a definition that would change a separate schedule is an error. The project may not exist before all this is known
   * to be valid.
   */
  plan(
    by: RequestedBy,
    job: string,
    definition: JobDefinition,
    separateSchedules?: readonly NamedSchedule[],
  ): Promise<(projectId: number) => ScheduleRevision>
}

export interface NamedSchedule {
  readonly name: string
  readonly input: ScheduleInput
}

export function createScheduleDefiner(deps: {
  readonly store: Pick<JobStore, 'findDefinition'>
  readonly catalog: Pick<CatalogCache, 'findProject'>
  readonly schedules: Pick<ScheduleAdmin, 'list' | 'put'>
  readonly rules: RuleCache
  mintId(): number
  storeNow(): number
  /** Zone for local times of schedules that name none. */
  readonly zone: string
}): ScheduleDefiner {
  const { store, catalog, schedules, rules, zone } = deps

  const requireJob = async (project: string, name: string) => {
    const projectId = await catalog.findProject(project)
    const job = projectId === null ? null : await store.findDefinition({ projectId, name })
    if (!job) throw new PunctualError('job_not_found', `there is no job ${name}`)
  }

  const read = (
    by: RequestedBy,
    job: string,
    name: string,
    definition: ScheduleDefinition,
    at: string,
  ) => readSchedule(definition, { zone, seed: seedOf(by.project, job, name), at })

  const allOf = (project: string, job: string) =>
    schedules.list(project, job, { after: 0, limit: LIMITS.schedules })

  return {
    async put(by, job, name, definition, expect) {
      await requireJob(by.project, job)
      const input = read(by, job, name, definition, '')
      const there = (await allOf(by.project, job)).find((one) => one.name === name)
      // A change of its content does not change where it is defined.
      const declared = there && isDeclared(there) ? { declared: true as const } : {}
      return schedules.put(by, job, name, { ...input, ...declared }, expect)
    },

    async plan(by, job, definition, separateSchedules = []) {
      const declared = schedulesIn(definition).map(({ name, at, definition: schedule }) => {
        return {
          name,
          at,
          input: { ...read(by, job, name, schedule, at), declared: true as const },
        }
      })
      const wanted = [...declared, ...separateSchedules.map((one) => ({ ...one, at: '' }))]
      const there = await allOf(by.project, job)
      const known = new Map(there.map((one) => [one.name, one]))
      const names = new Set(wanted.map(({ name }) => name))
      const unnamed = there.filter(({ name }) => !names.has(name))
      const removed = unnamed.filter(isDeclared)
      if (unnamed.length - removed.length + names.size > LIMITS.schedules) throw tooMany()

      const puts = wanted.flatMap(({ name, at, input }) => {
        const seed = seedOf(by.project, job, name)
        const spec = specOf(input, seed, at)
        const before = known.get(name)
        if (before && input.declared && !isDeclared(before)) {
          // The definition may take over an identical schedule.
          const { declared: _, ...alone } = input
          if (before.spec !== specOf(alone, seed, at)) throw taken(job, name, at)
        }
        // Also when it has ended: the user did not ask it to fire again.
        if (before?.spec === spec) return []
        const after = Math.max(deps.storeNow(), before?.lastNominalAt ?? 0)
        const id = before?.id ?? deps.mintId()
        return [
          { id, name, spec, next: nextOf(rules, spec, after, at), detail: storedFieldsOf(input) },
        ]
      })
      return (projectId) => revisionOf(by, projectId, job, { seen: there, puts, removed })
    },
  }
}

type PlannedPut = Omit<ScheduleRevision['puts'][number], 'audit'> & { readonly detail: object }

/** The changes as the store gets them, with an entry of the audit log for each. */
function revisionOf(
  by: RequestedBy,
  projectId: number,
  job: string,
  plan: {
    readonly seen: readonly ScheduleRecord[]
    readonly puts: readonly PlannedPut[]
    readonly removed: readonly ScheduleRecord[]
  },
): ScheduleRevision {
  const note = (action: string, name: string, detail?: object) =>
    auditEntryFor(by, projectId, `schedule.${action}`, `${job}/${name}`, detail)
  return {
    seen: plan.seen.map(({ id, version }) => ({ id, version })),
    puts: plan.puts.map(({ detail, ...put }) => ({
      ...put,
      audit: note('put', put.name, detail),
    })),
    removes: plan.removed.map(({ id, name }) => ({ id, audit: note('delete', name) })),
  }
}

function isDeclared({ spec }: ScheduleRecord): boolean {
  return decodeSpec(spec).declared ?? false
}

function taken(job: string, name: string, at: string): PunctualError {
  const message = `the job ${job} has a schedule ${name} that does not come from its definition`
  return new PunctualError('schedule_exists', message, { field: `${at}name` })
}

function tooMany(): PunctualError {
  const message = `the job would have more than ${LIMITS.schedules} schedules`
  return new PunctualError('too_many_schedules', message, { field: 'schedule' })
}
