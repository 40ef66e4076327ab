import {
  forecast,
  type Forecast,
  type ForecastSchedule,
} from '../../../core/schedule/forecast/forecast.ts'
import { decodeSpec } from '../../../core/schedule/firing/schedule-spec.ts'
import type { RuleSource } from '../../../core/schedule/index.ts'
import type { ScheduleRecord, ScheduleStore } from '../../../store/port.ts'
import { activePause } from './show-schedule.ts'

/** Number of latest times of a schedule that its expected duration is based on. */
const REMEMBERED = 10
/** Schedules that are read at once. */
const PAGE = 500

/** A schedule with the data a forecast needs. */
export interface ForecastInput extends ForecastSchedule {
  readonly record: ScheduleRecord
}

/** Reads when schedules may fire, and how long their runs take. */
export async function readForecastInputs(
  store: Pick<ScheduleStore, 'pastDurations'>,
  records: readonly ScheduleRecord[],
  now: number,
): Promise<ForecastInput[]> {
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

/** Computes a forecast in slices, so that other requests are served in between. */
export async function forecastInSlices(
  schedules: readonly ForecastSchedule[],
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
  const isOver = next.nominalAt === null && next.checkAt === null
  if (error !== null || isOver) return null
  const held = activePause(pause, now)
  return held ? held.until : now
}

function median(numbers: readonly number[]): number | null {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? null
}
