import type { WireForecast } from '../../core/schedule/forecast/views.ts'
import type { ScheduleRecord, ScheduleStore } from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import { createConcurrencyLimit } from '../loops/concurrency-limit.ts'
import { readForecastInputs, forecastInSlices } from '../schedules/views/forecast.ts'
import { showForecast } from '../schedules/views/show-forecast.ts'
import type { ScheduleAdmin } from './schedules.ts'

/** Forecasts what the schedules of a project will do. */
export interface Forecaster {
  forecast(
    project: string,
    asked: { readonly days: number; readonly job: string | undefined; readonly limit: number },
  ): Promise<WireForecast>
}

const DAY_MS = 86_400_000
const PAGE = 500
/** Further schedules are left out; the answer says so. */
const MOST = 20_000
/** A forecast uses a few megabytes for a second, so further requests wait. */
const AT_ONCE = 1

export function createForecaster(deps: {
  readonly store: Pick<ScheduleStore, 'pastDurations'>
  readonly catalog: Pick<CatalogCache, 'learnNames' | 'jobName'>
  readonly schedules: Pick<ScheduleAdmin, 'list'>
  storeNow(): number
}): Forecaster {
  const { store, catalog, schedules, storeNow } = deps
  const inTurn = createConcurrencyLimit(AT_ONCE)

  const recordsOf = async (project: string, job: string | null) => {
    const records: ScheduleRecord[] = []
    for (let after = 0; ;) {
      const page = await schedules.list(project, job, { after, limit: PAGE })
      records.push(...page)
      const last = page.at(-1)
      if (!last || page.length < PAGE) return { records, complete: true }
      if (records.length >= MOST) return { records, complete: false }
      after = last.id
    }
  }

  return {
    forecast: (project, { days, job, limit }) =>
      inTurn(async () => {
        const { records, complete } = await recordsOf(project, job ?? null)
        await catalog.learnNames(
          records.map(({ jobId }) => jobId),
          [],
        )
        const now = storeNow()
        const expected = await readForecastInputs(store, records, now)
        const seen = await forecastInSlices(expected, now, now + days * DAY_MS)
        return showForecast({ seen, expected, complete, limit, jobName: catalog.jobName })
      }),
  }
}
