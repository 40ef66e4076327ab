import { isLasting, PunctualError } from '../../../core/errors.ts'
import { needsGate } from '../../../core/schedule/firing/overlap.ts'
import { localTime } from '../../../core/schedule/local-time.ts'
import type { FireTimes, PlannedTime } from '../../../core/schedule/firing/firing-plan.ts'
import type { ScheduleSpec } from '../../../core/schedule/firing/schedule-spec.ts'
import { publicId } from '../../../core/ids.ts'
import type { Expectations } from '../../../core/expectation/expectations.ts'
import type { Submission } from '../../../core/wire/protocol.ts'
import type { RuleSource } from '../../../core/schedule/index.ts'
import type { NewRun, ScheduleRecord, SettledTime } from '../../../store/port.ts'
import type { CatalogCache } from '../../catalog/catalog-cache.ts'
import type { Definitions } from '../../definitions/definitions.ts'
import { createDraftEach } from '../../runs/draft-each.ts'
import { expectedOf } from '../../expectations/expected-of.ts'
import type { DraftRuns } from '../../runs/draft-runs.ts'

export interface PlannedTimes {
  readonly schedule: ScheduleRecord
  readonly spec: ScheduleSpec<RuleSource>
  readonly times: FireTimes
  readonly planned: readonly PlannedTime[]
}

/** Drafts the runs of planned times: one list of settled times per schedule, in the same order. */
export type DraftTimes = (
  plans: readonly PlannedTimes[],
) => Promise<readonly (readonly SettledTime[])[]>

type RunTime = Extract<PlannedTime, { kind: 'run' }>

interface DraftTimesDeps {
  readonly draft: DraftRuns
  readonly catalog: Pick<
    CatalogCache,
    'gates' | 'knownGates' | 'jobName' | 'projectName' | 'learnNames'
  >
  readonly definitions: Pick<Definitions, 'known' | 'find'>
}

export function createDraftTimes(deps: DraftTimesDeps): DraftTimes {
  const { catalog, definitions } = deps
  const draftEach = createDraftEach(deps.draft)

  const runsOf = async (plans: readonly PlannedTimes[]) => {
    const asked = plans.flatMap((of) =>
      of.planned.flatMap((time) => (time.kind === 'run' ? [{ of, time }] : [])),
    )
    const runs = new Map<PlannedTime, NewRun | PunctualError>()
    for (const group of Map.groupBy(asked, ({ of }) => groupOf(of.schedule)).values()) {
      const { projectId, updatedBy } = (group[0] as { of: PlannedTimes }).of.schedule
      const submissions = group.map(({ of, time }) => submissionOf(of, time.nominalAt, catalog))
      const made = await draftEach(submissions, catalog.projectName(projectId), updatedBy)
      for (const [index, { time }] of group.entries()) {
        runs.set(time, made[index] as NewRun | PunctualError)
      }
    }
    return runs
  }

  /** Expectations that the job defines for all of its schedules. */
  const expectationsOf = async ({ projectId, jobId }: ScheduleRecord): Promise<Expectations> => {
    const job = catalog.jobName(jobId)
    const known = definitions.known(projectId, job)
    if (known !== undefined) return known?.expectations ?? NOTHING
    try {
      return (await definitions.find(projectId, job))?.expectations ?? NOTHING
    } catch (error) {
      // A newer version may refuse what an older one stored. Then no run is made and each time has
      // the reason; schedules of other jobs are not affected.
      if (isLasting(error)) return NOTHING
      throw error
    }
  }

  const settledOf = async (
    plan: PlannedTimes,
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
    const gates = await gatesOf(plans, catalog)
    const runs = await runsOf(plans)
    const settled: SettledTime[][] = []
    for (const plan of plans) settled.push(await settledOf(plan, runs, gates.get(plan)))
    return settled
  }
}

const NOTHING: Expectations = {}

/** The gates that keep runs of one schedule from overlapping. */
async function gatesOf(
  plans: readonly PlannedTimes[],
  catalog: DraftTimesDeps['catalog'],
): Promise<Map<PlannedTimes, number>> {
  const gated = plans.filter(({ spec }) => needsGate(spec.overlap))
  const byProject = Map.groupBy(gated, ({ schedule }) => schedule.projectId)
  const gates = new Map<PlannedTimes, number>()
  for (const [projectId, group] of byProject) {
    const keys = group.map(({ schedule }) => [{ key: gateNameOf(schedule, catalog), limit: 1 }])
    const isKnown = keys.every((key) => catalog.knownGates(projectId, key) !== undefined)
    if (!isKnown) await catalog.gates(projectId, keys.flat())
    for (const [index, plan] of group.entries()) {
      const [gate] = catalog.knownGates(projectId, keys[index] ?? []) ?? []
      if (gate !== undefined) gates.set(plan, gate)
    }
  }
  return gates
}

function gateNameOf(
  { id, jobId, name }: ScheduleRecord,
  catalog: Pick<CatalogCache, 'jobName'>,
): string {
  return `${catalog.jobName(jobId)}/${name} ${publicId('sch', id)}`
}

function asRun(
  { nominalAt, late }: RunTime,
  run: NewRun,
  gate: number | undefined,
): Extract<SettledTime, { kind: 'run' }> {
  const gates = gate === undefined ? run.gates : ascending([...run.gates, gate])
  return { kind: 'run', nominalAt, late, run: { ...run, dueAt: nominalAt, gates } }
}

function cannotStart(nominalAt: number, { message }: PunctualError): SettledTime {
  const decision = { outcome: 'missed', reason: 'cannot_start', detail: message } as const
  return { kind: 'none', nominalAt, untilAt: nominalAt, count: 1, ...decision }
}

function submissionOf(
  { schedule, spec }: PlannedTimes,
  nominalAt: number,
  catalog: Pick<CatalogCache, 'jobName'>,
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
