import { forecast, type Forecast, type Foreseen } from '../../core/schedule/forecast/forecast.ts'
import { decodeSpec } from '../../core/schedule/firing/schedule-spec.ts'
import type { RuleSource } from '../../core/schedule/index.ts'
import type { ScheduleRecord, ScheduleStore } from '../../store/port.ts'
import { holdingPause } from './show-schedule.ts'

/** The last so many times of a schedule say how long its runs take. */
const REMEMBERED = 10
/** So many schedules are asked about at once. */
const PAGE = 500

/** A schedule, and what a forecast has to know about it. */
export interface Expected extends Foreseen {
  readonly record: ScheduleRecord
}

/** What is known of schedules: when they may fire, and how long that takes. */
export async function expectOf(
  store: Pick<ScheduleStore, 'pastDurations'>,
  records: readonly ScheduleRecord[],
  now: number,
): Promise<Expected[]> {
  const durations = new Map<number, number[]>()
  for (let start = 0; start < records.length; start += PAGE) {
    const scheduleIds = records.slice(start, start + PAGE).map(({ id }) => id)
    for (const { scheduleId, ms } of await store.pastDurations({ scheduleIds, each: REMEMBERED })) {
      durations.set(scheduleId, [...(durations.get(scheduleId) ?? []), ms])
    }
  }
  return records.map((record) => ({
    record,
    rule: decodeSpec<RuleSource>(record.spec).rule,
    from: firesFrom(record, now),
    durationMs: median(durations.get(record.id) ?? []),
  }))
}

/** Looks ahead a moment at a time, so that everybody else is served in between. */
export async function foresee(
  schedules: readonly Foreseen[],
  from: number,
  until: number,
): Promise<Forecast> {
  const work = forecast(schedules, from, until)
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
    await new Promise((resolve) => setImmediate(resolve))
  }
}

function firesFrom({ pause, error, next }: ScheduleRecord, now: number): number | null {
  const isOver = next.nominalAt === null && next.lookAt === null
  if (error !== null || isOver) return null
  const held = holdingPause(pause, now)
  return held ? held.until : now
}

function median(numbers: readonly number[]): number | null {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? null
}
