import { PunctualError } from '../../core/errors.ts'
import { needsGate } from '../../core/schedule/firing/overlap.ts'
import { localTime } from '../../core/schedule/local-time.ts'
import type { FireTimes, PlannedTime } from '../../core/schedule/firing/firing-plan.ts'
import type { ScheduleSpec } from '../../core/schedule/firing/schedule-spec.ts'
import { publicId } from '../../core/ids.ts'
import type { Expectations } from '../../core/expectation/expectations.ts'
import type { Submission } from '../../core/wire/protocol.ts'
import type { RuleSource } from '../../core/schedule/index.ts'
import type { NewRun, ScheduleRecord, SettledTime } from '../../store/port.ts'
import type { Catalog } from '../catalog/catalog-cache.ts'
import type { Definitions } from '../definitions/definitions.ts'
import { createDraftEach } from '../runs/draft-each.ts'
import { expectedOf } from '../expectations/expected-of.ts'
import type { Draft } from '../runs/draft-runs.ts'

export interface ToDraft {
  readonly schedule: ScheduleRecord
  readonly spec: ScheduleSpec<RuleSource>
  readonly times: FireTimes
  readonly planned: readonly PlannedTime[]
}

/** Makes the runs of planned times: one list of settled times for each schedule, in the same order. */
export type DraftTimes = (plans: readonly ToDraft[]) => Promise<readonly (readonly SettledTime[])[]>

type RunTime = Extract<PlannedTime, { kind: 'run' }>

export function createDraftTimes(deps: {
  readonly draft: Draft
  readonly catalog: Pick<Catalog, 'gates' | 'knownGates' | 'jobName' | 'projectName' | 'learnNames'>
  readonly definitions: Pick<Definitions, 'known' | 'find'>
}): DraftTimes {
  const { catalog, definitions } = deps
  const draftEach = createDraftEach(deps.draft)

  const gateNameOf = ({ id, jobId, name }: ScheduleRecord) =>
    `${catalog.jobName(jobId)}/${name} ${publicId('sch', id)}`

  /** The gates that keep runs of one schedule apart, where they must not overlap. */
  const gatesOf = async (plans: readonly ToDraft[]): Promise<Map<ToDraft, number>> => {
    const gated = plans.filter(({ spec }) => needsGate(spec.overlap))
    const byProject = Map.groupBy(gated, ({ schedule }) => schedule.projectId)
    const gates = new Map<ToDraft, number>()
    for (const [projectId, group] of byProject) {
      const keys = group.map(({ schedule }) => [{ key: gateNameOf(schedule), limit: 1 }])
      const isKnown = keys.every((key) => catalog.knownGates(projectId, key) !== undefined)
      if (!isKnown) await catalog.gates(projectId, keys.flat())
      for (const [index, plan] of group.entries()) {
        const [gate] = catalog.knownGates(projectId, keys[index] ?? []) ?? []
        if (gate !== undefined) gates.set(plan, gate)
      }
    }
    return gates
  }

  const runsOf = async (plans: readonly ToDraft[]) => {
    const asked = plans.flatMap((of) =>
      of.planned.flatMap((time) => (time.kind === 'run' ? [{ of, time }] : [])),
    )
    const runs = new Map<PlannedTime, NewRun | PunctualError>()
    for (const group of Map.groupBy(asked, ({ of }) => groupOf(of.schedule)).values()) {
      const { projectId, updatedBy } = (group[0] as { of: ToDraft }).of.schedule
      const submissions = group.map(({ of, time }) => submissionOf(of, time.nominalAt, catalog))
      const made = await draftEach(submissions, catalog.projectName(projectId), updatedBy)
      for (const [index, { time }] of group.entries()) {
        runs.set(time, made[index] as NewRun | PunctualError)
      }
    }
    return runs
  }

  /** What its job says for all of its schedules. */
  const expectationsOf = async ({ projectId, jobId }: ScheduleRecord): Promise<Expectations> => {
    const job = catalog.jobName(jobId)
    const known = definitions.known(projectId, job)
    const definition = known === undefined ? await definitions.find(projectId, job) : known
    return definition?.expectations ?? NOTHING
  }

  const settledOf = async (
    plan: ToDraft,
    runs: ReadonlyMap<PlannedTime, NewRun | PunctualError>,
    gate: number | undefined,
  ): Promise<SettledTime[]> => {
    const { schedule, spec, times, planned } = plan
    const job = await expectationsOf(schedule)
    return planned.map((time): SettledTime => {
      if (time.kind === 'none') return time
      const run = runs.get(time) as NewRun | PunctualError
      if (run instanceof PunctualError) return cannotStart(time.nominalAt, run)
      const of = { scheduleId: schedule.id, spec, times, job }
      return { ...asRun(time, run, gate), expected: expectedOf(time.nominalAt, of) }
    })
  }

  return async (plans) => {
    await catalog.learnNames(
      plans.map(({ schedule }) => schedule.jobId),
      plans.map(({ schedule }) => schedule.projectId),
    )
    const gates = await gatesOf(plans)
    const runs = await runsOf(plans)
    const settled: SettledTime[][] = []
    for (const plan of plans) settled.push(await settledOf(plan, runs, gates.get(plan)))
    return settled
  }
}

const NOTHING: Expectations = {}

function asRun(
  { nominalAt, late }: RunTime,
  run: NewRun,
  gate: number | undefined,
): Extract<SettledTime, { kind: 'run' }> {
  const gates = gate === undefined ? run.gates : ascending([...run.gates, gate])
  return { kind: 'run', nominalAt, late, run: { ...run, dueAt: nominalAt, gates } }
}

function cannotStart(nominalAt: number, { message }: PunctualError): SettledTime {
  const fate = { outcome: 'missed', reason: 'cannot_start', detail: message } as const
  return { kind: 'none', nominalAt, untilAt: nominalAt, count: 1, ...fate }
}

function submissionOf(
  { schedule, spec }: ToDraft,
  nominalAt: number,
  catalog: Pick<Catalog, 'jobName'>,
): Submission {
  const { input, priority, rule } = spec
  return {
    job: catalog.jobName(schedule.jobId),
    scheduledAt: localTime(nominalAt, rule.zone ?? 'UTC'),
    ...(input === undefined ? {} : { input }),
    ...(priority === undefined ? {} : { priority }),
  }
}

function groupOf({ projectId, updatedBy }: ScheduleRecord): string {
  return `${projectId}/${updatedBy}`
}

function ascending(numbers: readonly number[]): number[] {
  return numbers.toSorted((a, b) => a - b)
}
