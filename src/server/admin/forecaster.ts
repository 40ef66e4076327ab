import type { WireForecast } from '../../core/schedule/forecast/views.ts'
import type { ScheduleRecord, ScheduleStore } from '../../store/port.ts'
import type { Catalog } from '../catalog/catalog-cache.ts'
import { createTurns } from '../loops/concurrency-limit.ts'
import { expectOf, foresee } from '../schedules/forecast.ts'
import { showForecast } from '../schedules/show-forecast.ts'
import type { Schedules } from './schedules.ts'

/** Looks ahead: what the schedules of a project are going to do. */
export interface Forecasting {
  forecast(
    project: string,
    asked: { readonly days: number; readonly job: string | undefined; readonly limit: number },
  ): Promise<WireForecast>
}

const DAY_MS = 86_400_000
const PAGE = 500
/** More schedules than these are not taken in; the answer says so. */
const MOST = 20_000
/** One has a few megabytes in hand for a second; who asks for more waits for it. */
const AT_ONCE = 1

export function createForecasting(deps: {
  readonly store: Pick<ScheduleStore, 'pastDurations'>
  readonly catalog: Pick<Catalog, 'learnNames' | 'jobName'>
  readonly schedules: Pick<Schedules, 'list'>
  storeNow(): number
}): Forecasting {
  const { store, catalog, schedules, storeNow } = deps
  const inTurn = createTurns(AT_ONCE)

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
        const expected = await expectOf(store, records, now)
        const seen = await foresee(expected, now, now + days * DAY_MS)
        return showForecast({ seen, expected, complete, limit, jobName: catalog.jobName })
      }),
  }
}
