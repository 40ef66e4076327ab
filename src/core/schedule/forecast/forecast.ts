import type { RuleSource } from '../index.ts'
import { createMinuteCounts } from '../rule/minute-counts.ts'
import { createClockNights, type ClockNight } from './clock-nights.ts'
import { type Collision, createCollisions } from './collisions.ts'
import { countGroup, groupAlike } from './groups.ts'
import { createHours, type Hours } from './hours.ts'

/** A schedule as input of a forecast. */
export interface ForecastSchedule {
  readonly rule: RuleSource
  /** The schedule fires from this time on: now, or the end of its pause. Null if the end is unknown. */
  readonly from: number | null
  /** The duration of its runs, if known. */
  readonly durationMs: number | null
}

export interface Forecast {
  readonly from: number
  readonly until: number
  /** The number of fires of each schedule, in the given order. */
  readonly fires: Float64Array
  readonly hours: Hours
  readonly collisions: readonly Collision[]
  readonly clockNights: readonly ClockNight[]
}

/**
 * Predicts the fires of the schedules in [from, until). Schedules that fire alike are counted together per minute, so
 * time and memory do not grow with how often they fire. The generator yields every few milliseconds to leave time for
 * other work.
 */
export function* forecast(
  schedules: readonly ForecastSchedule[],
  from: number,
  until: number,
): Generator<void, Forecast> {
  const fires = new Float64Array(schedules.length)
  const hours = createHours(from, until)
  const collisions = createCollisions(from, until)
  const nights = createClockNights(from, until)
  const counts = createMinuteCounts(from, until)
  const groups = yield* groupAlike(schedules, until)
  for (const group of groups) {
    counts.fires.fill(0)
    countGroup(group, counts, Math.max(from, group.from), until)
    const ofGroup = hours.ofMinutes(counts)
    const total = ofGroup.reduce((sum, count) => sum + count, 0)
    for (const index of group.members) {
      fires[index] = total
      hours.add(ofGroup, schedules[index]?.durationMs ?? null)
    }
    yield
    if (!group.isSpread) collisions.add(group, counts)
    nights.add(group)
    yield
  }
  const found = yield* collisions.find()
  return { from, until, fires, hours: hours.done(), collisions: found, clockNights: nights.done() }
}
