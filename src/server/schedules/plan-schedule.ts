import { needsMemory } from '../../core/schedule/firing/overlap.ts'
import { nextFrom, type Plan, planTimes } from '../../core/schedule/firing/firing-plan.ts'
import type { RunRecord, ScheduleRecord } from '../../store/port.ts'
import { isFinal } from '../../core/run/run-state.ts'
import type { Understood } from './rule-cache.ts'

/** Runs that one schedule may make in one transaction; what is left follows in the next. */
const MOST_RUNS = 50
/** How soon somebody looks again whether a run has ended that nobody told of. */
const FOLLOW_MS = 10_000

type Readable = Extract<Understood, { ok: true }>

/** What shall become of a schedule that is to be looked at. */
export function planSchedule(
  schedule: ScheduleRecord,
  { spec, times }: Readable,
  now: number,
  runOf: (runId: number) => RunRecord | undefined,
): Plan {
  const pause = pauseOf(schedule, now)
  let { nominalAt } = schedule.next
  if (nominalAt === null) {
    const following = follow(schedule, times, now, runOf)
    nominalAt = following.next.nominalAt
    // A time that came while it was paused is not one that follows: it is skipped like any other.
    if (nominalAt === null || !pause || nominalAt > pause.untilAt) return following
  }
  const plan = planTimes({
    times,
    nominalAt,
    now,
    missed: spec.missed,
    skipNominalAt: schedule.skipNominalAt,
    pause,
    mostRuns: MOST_RUNS,
  })
  const isFollowed = times.afterFinish !== null && plan.next.nominalAt === null
  if (!isFollowed || plan.planned.length === 0) return plan
  return { ...plan, next: { nominalAt: null, lookAt: now + FOLLOW_MS } }
}

/** Whether its runs have to be remembered: those that others must not overlap, or that others follow. */
export function remembers({ spec, times }: Readable): boolean {
  return times.afterFinish !== null || needsMemory(spec.overlap)
}

/** The times of a pause that is over, one way or the other. */
function pauseOf({ pause }: ScheduleRecord, now: number) {
  if (!pause) return null
  const untilAt = Math.min(now, pause.resumedAt ?? pause.until ?? now)
  return { untilAt, reason: pause.byJob ? ('job_paused' as const) : ('paused' as const) }
}

/** Its next time is counted from the end of its run: if that has come, it is known now. */
function follow(
  { openRuns, lastNominalAt }: ScheduleRecord,
  times: Readable['times'],
  now: number,
  runOf: (runId: number) => RunRecord | undefined,
): Plan {
  const runs = openRuns.map(runOf)
  const isOpen = runs.some((run) => run && !isFinal(run.state))
  if (isOpen) return { planned: [], next: { nominalAt: null, lookAt: now + FOLLOW_MS } }
  const ends = runs.map((run) => run?.finishedAt ?? now)
  // Never back behind what has fired, even if a clock was set back since.
  const endedAt = Math.max(lastNominalAt ?? 0, ...(ends.length > 0 ? ends : [now]))
  return { planned: [], next: nextFrom(times, times.next(endedAt)) }
}
