import { needsMemory } from '../../../core/schedule/firing/overlap.ts'
import { nextFrom, type FiringPlan, planTimes } from '../../../core/schedule/firing/firing-plan.ts'
import type { RunRecord, ScheduleRecord } from '../../../store/port.ts'
import { isFinal } from '../../../core/run/run-state.ts'
import type { ParsedRule } from '../rule-cache.ts'

/** Maximum number of runs one schedule makes in one transaction; the rest follows in the next. */
const MOST_RUNS = 50
/** How soon a node checks whether a run has ended whose end was not reported here. */
const FOLLOW_CHECK_MS = 10_000

/** The store's clock may show the end of a pause this long before the clock of this node does. */
const MAX_CLOCK_LAG_MS = 5_000

type Readable = Extract<ParsedRule, { ok: true }>

/** Plans what becomes of a schedule at its check time. */
export function planSchedule(
  schedule: ScheduleRecord,
  { spec, times }: Readable,
  now: number,
  runOf: (runId: number) => RunRecord | undefined,
): FiringPlan {
  const pause = pauseOf(schedule, now)
  let { nominalAt } = schedule.next
  if (nominalAt === null) {
    const following = follow(schedule, times, now, runOf)
    nominalAt = following.next.nominalAt
    // A time during the pause does not count as following: it is skipped like any other.
    if (nominalAt === null || !pause || nominalAt > pause.untilAt) return following
  }
  const plan = planTimes({
    times,
    nominalAt,
    now,
    missed: spec.missed,
    skipNominalAt: schedule.skipNominalAt,
    pause,
    maxRuns: MOST_RUNS,
  })
  const isFollowed = times.afterFinish !== null && plan.next.nominalAt === null
  if (!isFollowed || plan.planned.length === 0) return plan
  return { ...plan, next: { nominalAt: null, checkAt: now + FOLLOW_CHECK_MS } }
}

/** Whether its runs must be tracked: those that must not overlap, and those that others follow. */
export function needsRunHistory({ spec, times }: Readable): boolean {
  return times.afterFinish !== null || needsMemory(spec.overlap)
}

/** The times of a pause that has ended in some way. */
function pauseOf({ pause }: ScheduleRecord, now: number) {
  if (!pause) return null
  const endedAt = pause.resumedAt ?? pause.until ?? now
  // An end further ahead was written by a clock that has been set back since.
  const untilAt = endedAt - now <= MAX_CLOCK_LAG_MS ? endedAt : now
  return { untilAt, reason: pause.byJob ? ('job_paused' as const) : ('paused' as const) }
}

/** Its next time counts from the end of its run; if the run has ended, the time is known now. */
function follow(
  { openRuns, lastNominalAt }: ScheduleRecord,
  times: Readable['times'],
  now: number,
  runOf: (runId: number) => RunRecord | undefined,
): FiringPlan {
  const runs = openRuns.map(runOf)
  const isOpen = runs.some((run) => run && !isFinal(run.state))
  if (isOpen) return { planned: [], next: { nominalAt: null, checkAt: now + FOLLOW_CHECK_MS } }
  // By a clock that was set back since, its end may lie ahead.
  const ends = runs.map((run) => Math.min(now, run?.finishedAt ?? now))
  // Never before what has fired, even if a clock was set back since.
  const endedAt = Math.max(lastNominalAt ?? 0, ...(ends.length > 0 ? ends : [now]))
  return { planned: [], next: nextFrom(times, times.next(endedAt)) }
}
