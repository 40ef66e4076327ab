import type { RuleSource } from '../index.ts'
import { createMinuteCounts } from '../rule/minute-counts.ts'
import { createClockNights, type ClockNight } from './clock-nights.ts'
import { type Collision, createCollisions } from './collisions.ts'
import { countGroup, groupAlike } from './groups.ts'
import { createHours, type Hours } from './hours.ts'

/** A schedule as a forecast sees it. */
export interface Foreseen {
  readonly rule: RuleSource
  /** It fires from here on: now, or when its pause ends. Null if nobody knows when that is. */
  readonly from: number | null
  /** How long its runs take, as far as anybody knows. */
  readonly durationMs: number | null
}

export interface Forecast {
  readonly from: number
  readonly until: number
  /** For each schedule, in the order in which they were given. */
  readonly fires: Float64Array
  readonly hours: Hours
  readonly collisions: readonly Collision[]
  readonly clockNights: readonly ClockNight[]
}

/**
 * What some schedules are going to do in [from, until). Those that fire alike are counted together, by
 * the minute, so that neither time nor memory grows with how often they fire. It stops after each few
 * milliseconds of work, for others to have their turn.
 */
export function* forecast(
  schedules: readonly Foreseen[],
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
