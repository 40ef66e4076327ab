import type { Forecast } from '../../../core/schedule/forecast/forecast.ts'
import type {
  WireClockNight,
  WireCollision,
  WireForecast,
  WireForecastBar,
  WireForecastSchedule,
} from '../../../core/schedule/forecast/views.ts'
import type { Hours } from '../../../core/schedule/forecast/hours.ts'
import { showOffset } from '../../../core/schedule/index.ts'
import { scheduleWords } from '../../../core/schedule/definition/describe-schedule.ts'
import { formatTime } from '../../../core/wire/runs.ts'
import type { ScheduleRecord } from '../../../store/port.ts'
import type { ForecastInput } from './forecast.ts'

const HOUR_MS = 3_600_000
const DAY_HOURS = 24
/** Forecasts up to this many days are shown hour by hour. */
const DAYS_BY_HOUR = 3
const MAX_BUSIEST = 10
const NAMED = 20

export interface ShownForecast {
  readonly seen: Forecast
  readonly expected: readonly ForecastInput[]
  readonly complete: boolean
  readonly limit: number
  jobName(id: number): string
}

export function showForecast(shown: ShownForecast): WireForecast {
  const { seen, expected, complete, limit } = shown
  const { from, until, hours } = seen
  const isByHour = until - from <= DAYS_BY_HOUR * DAY_HOURS * HOUR_MS
  const nameOf = ({ jobId, name }: ScheduleRecord) => `${shown.jobName(jobId)}/${name}`
  return {
    from: formatTime(from, 'from'),
    until: formatTime(until, 'until'),
    complete,
    fires: seen.fires.reduce((sum, fires) => sum + fires, 0),
    schedules: mostFiring(seen.fires, limit).map((index) =>
      showSchedule(expected[index] as ForecastInput, seen.fires[index] as number, shown),
    ),
    more: Math.max(0, expected.length - limit),
    bars: isByHour ? hourBars(hours) : dayBars(hours),
    bar_ms: isByHour ? HOUR_MS : DAY_HOURS * HOUR_MS,
    busiest: busiestOf(hours),
    collisions: seen.collisions.map(({ at, times, schedules }): WireCollision => {
      const some = schedules
        .slice(0, NAMED)
        .map((index) => (expected[index] as ForecastInput).record)
      const names = some.map(nameOf)
      return { at: formatTime(at, 'at'), times, schedules: schedules.length, names }
    }),
    clock_changes: seen.clockNights.map(
      ({ at, before, after, leftOut, ...rest }): WireClockNight => ({
        ...rest,
        at: formatTime(at, 'at'),
        from_offset: showOffset(before),
        to_offset: showOffset(after),
        left_out: leftOut,
      }),
    ),
  }
}

function mostFiring(fires: Float64Array, limit: number): number[] {
  const order = Array.from(fires, (_, index) => index)
  return order.toSorted((a, b) => (fires[b] as number) - (fires[a] as number)).slice(0, limit)
}

function showSchedule(
  { record, rule, durationMs }: ForecastInput,
  fires: number,
  { jobName }: Pick<ShownForecast, 'jobName'>,
): WireForecastSchedule {
  return {
    job: jobName(record.jobId),
    schedule: record.name,
    words: scheduleWords(rule),
    fires,
    duration_ms: durationMs,
  }
}

function hourBars({ firstHour, fires, busy }: Hours): WireForecastBar[] {
  return Array.from(fires, (count, index) => bar(firstHour + index, count, busy[index] as number))
}

function dayBars({ firstHour, fires, busy }: Hours): WireForecastBar[] {
  const bars: WireForecastBar[] = []
  for (let start = firstHour - (firstHour % DAY_HOURS); start < firstHour + fires.length;) {
    const first = Math.max(0, start - firstHour)
    const end = start - firstHour + DAY_HOURS
    const count = fires.subarray(first, end).reduce((sum, one) => sum + one, 0)
    bars.push(bar(start, count, Math.max(0, ...busy.subarray(first, end))))
    start += DAY_HOURS
  }
  return bars
}

function busiestOf(hours: Hours): WireForecastBar[] {
  return hourBars(hours)
    .filter(({ fires, busy }) => fires > 0 || busy > 0)
    .toSorted((a, b) => b.busy - a.busy || b.fires - a.fires)
    .slice(0, MAX_BUSIEST)
}

function bar(hour: number, fires: number, busy: number): WireForecastBar {
  return { at: formatTime(hour * HOUR_MS, 'at'), fires, busy: Math.round(busy * 1_000) / 1_000 }
}
