import type { FireCommand, RunQueries, RunRecord, ScheduleRecord } from '../../../store/port.ts'
import type { DraftTimes } from './draft-times.ts'
import type { DueWindow } from './due-window.ts'
import { needsRunHistory, planSchedule } from './plan-schedule.ts'
import { createPreparedFirings, PREPARE_MS } from './prepared-firings.ts'
import type { RuleCache } from '../rule-cache.ts'

/** Maximum number prepared at once: few enough not to delay a schedule that becomes due. */
const PREPARE = 100

/** What becomes of each schedule at its check time; or why that is unknown. */
export type FiringPlans = ReadonlyMap<ScheduleRecord, FireCommand | string>

export interface FiringPlannerDeps {
  readonly store: Pick<RunQueries, 'findRuns'>
  readonly rules: RuleCache
  readonly draftTimes: DraftTimes
  storeNow(): number
  mintId(): number
}

/** Plans what the store has to write when schedules fire. */
export interface FiringPlanner {
  /** The plans of these schedules as of `now`, in order; prepared ones are used. */
  plan(schedules: readonly ScheduleRecord[], now: number): Promise<FiringPlans>
  /** Prepares some schedules of the window that are due soon; returns whether there were any. */
  prepareSome(window: DueWindow): Promise<boolean>
}

export function createFiringPlanner(deps: FiringPlannerDeps): FiringPlanner {
  const prepared = createPreparedFirings(deps.mintId)
  return {
    async plan(schedules, now) {
      const known = new Map(
        schedules.map((schedule) => [schedule, prepared.take(schedule, now)] as const),
      )
      const unknown = schedules.filter((schedule) => !known.get(schedule))
      const planned =
        unknown.length > 0 ? await planFirings(unknown, () => now, deps) : NOTHING_PLANNED
      const plans = new Map<ScheduleRecord, FireCommand | string>()
      for (const schedule of schedules) {
        const plan = known.get(schedule) ?? planned.get(schedule)
        if (plan !== undefined) plans.set(schedule, plan)
      }
      return plans
    },

    async prepareSome(window) {
      const soon = window.upcoming(deps.storeNow() + PREPARE_MS, PREPARE)
      if (soon.length === 0) return false
      const schedules = soon.map(({ schedule }) => schedule).filter(prepared.wants)
      const checkTimeOf = ({ next }: ScheduleRecord) => next.checkAt as number
      // A schedule that cannot be prepared is planned again, and any error reported, at its time.
      const plans = await planFirings(schedules, checkTimeOf, deps).catch(() => NOTHING_PLANNED)
      for (const schedule of schedules) {
        const command = plans.get(schedule)
        prepared.keep(schedule, typeof command === 'object' ? command : null)
      }
      return true
    },
  }
}

const NOTHING_PLANNED: FiringPlans = new Map()

async function planFirings(
  schedules: readonly ScheduleRecord[],
  timeOf: (schedule: ScheduleRecord) => number,
  { store, rules, draftTimes }: FiringPlannerDeps,
): Promise<FiringPlans> {
  const runs = await findOpenRuns(schedules, store)
  const results = new Map<ScheduleRecord, FireCommand | string>()
  const plans = schedules.flatMap((schedule) => {
    const parsed = rules(schedule.spec)
    if (!parsed.ok) {
      results.set(schedule, parsed.error)
      return []
    }
    const now = timeOf(schedule)
    const { planned, next } = planSchedule(schedule, parsed, now, (runId) => runs.get(runId))
    const { spec, times } = parsed
    return [{ schedule, spec, times, planned, next, tracksOpenRuns: needsRunHistory(parsed) }]
  })
  const settled = await draftTimes(plans)
  for (const [index, { schedule, spec, ...plan }] of plans.entries()) {
    results.set(schedule, {
      id: schedule.id,
      version: schedule.version,
      nominalAt: schedule.next.nominalAt,
      settled: settled[index] ?? [],
      next: plan.next,
      overlap: spec.overlap,
      tracksOpenRuns: plan.tracksOpenRuns,
    })
  }
  return results
}

/** The runs whose end schedules wait for. */
async function findOpenRuns(
  schedules: readonly ScheduleRecord[],
  store: FiringPlannerDeps['store'],
): Promise<ReadonlyMap<number, RunRecord>> {
  const runIds = schedules.flatMap(({ next, openRuns }) =>
    next.nominalAt === null ? openRuns : [],
  )
  if (runIds.length === 0) return new Map()
  const runs = await store.findRuns({ runIds })
  return new Map(runs.map((run) => [run.id, run]))
}
