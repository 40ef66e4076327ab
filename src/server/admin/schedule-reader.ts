import type { ScheduleDefinition } from '../../core/schedule/definition/schedule-definition.ts'
import { decodeSpec } from '../../core/schedule/firing/schedule-spec.ts'
import { LIMITS } from '../../core/limits.ts'
import type { RuleSource } from '../../core/schedule/index.ts'
import type {
  ScheduleState,
  WireAway,
  WireNextTimes,
  WireOccurrence,
  WirePreview,
  WireSchedule,
  WireScheduleWhy,
} from '../../core/schedule/definition/schedule-views.ts'
import { scheduleWords } from '../../core/schedule/definition/describe-schedule.ts'
import type { WirePage } from '../../core/wire/views.ts'
import { formatTime } from '../../core/wire/runs.ts'
import type { ScheduleRecord, ScheduleStore } from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import { encodeCursor, readNumberCursor } from '../paging/cursor.ts'
import { countOutcomes, unusualOccurrencesSince } from '../schedules/views/unusual-occurrences.ts'
import { historyPage, type HistoryStore } from '../schedules/views/history-page.ts'
import { earliest, upcomingSchedules } from '../schedules/views/upcoming-times.ts'
import { previewSchedule, showTime } from '../schedules/views/preview.ts'
import type { RuleCache } from '../schedules/rule-cache.ts'
import { showSchedule, stateOf } from '../schedules/views/show-schedule.ts'
import { explainSchedule } from '../schedules/views/why-schedule.ts'
import type { Actors } from '../identity/actors.ts'
import { pageLimit, type Paging } from '../paging/paging.ts'
import type { ScheduleAdmin } from './schedules.ts'
import { noticeOf, type StoreClock } from '../cluster/store-clock.ts'

/** Everything that can be read about schedules. */
export interface ScheduleReader {
  show(records: readonly ScheduleRecord[]): Promise<WireSchedule[]>
  get(project: string, job: string, name: string): Promise<WireSchedule>
  /** In the order of creation. A page may be short, or empty, and still have a next one. */
  list(
    project: string,
    page: Paging & { job?: string | undefined; state?: ScheduleState | undefined },
  ): Promise<WirePage<WireSchedule>>
  /** Planned against actual times: the outcomes of past times, and the state of future ones. */
  occurrences(
    project: string,
    job: string,
    name: string,
    range: Paging & { from?: number | undefined; until?: number | undefined },
  ): Promise<WirePage<WireOccurrence>>
  why(project: string, job: string, name: string): Promise<WireScheduleWhy>
  /** The next times, of one job or of all. */
  next(project: string, job: string | undefined, count: number): Promise<WireNextTimes>
  preview(project: string, definition: ScheduleDefinition, count: number): WirePreview
  away(project: string, since: number | undefined): Promise<WireAway>
}

const DAY_MS = 86_400_000

interface ScheduleReaderDeps {
  readonly store: ScheduleStore & HistoryStore
  readonly catalog: CatalogCache
  readonly schedules: ScheduleAdmin
  readonly rules: RuleCache
  readonly actors: Actors
  /** Zone for local times of schedules that name none. */
  readonly zone: string
  storeNow(): number
  mayFire(): boolean
  readonly storeClock: StoreClock
}

export function createScheduleReader(deps: ScheduleReaderDeps): ScheduleReader {
  const { store, catalog, schedules, rules, actors, storeNow } = deps

  const show = async (records: readonly ScheduleRecord[]) => {
    await learnJobs(records, catalog)
    const nameOf = await actors.names()
    const showing = { rules, now: storeNow(), jobName: catalog.jobName, nameOf }
    return records.map((record) => showSchedule(record, showing))
  }

  const get = async (project: string, job: string, name: string) => {
    const [shown] = await show([await schedules.find(project, job, name)])
    return shown as WireSchedule
  }

  /** Why no run could be made at this time; null if that is not what happened. */
  const refusalAt = async (record: ScheduleRecord, nominalAt: number | null) => {
    if (nominalAt === null) return null
    const range = { from: nominalAt, until: nominalAt + 1, limit: 1 }
    const [occurrence] = await schedules.occurrences(record, range)
    return occurrence?.reason === 'cannot_start' ? occurrence.detail : null
  }

  return {
    show,
    get,

    async list(project, { limit, cursor, job, state }) {
      const after = cursor === undefined ? 0 : readNumberCursor(cursor)
      const size = pageLimit(limit)
      const rows = await schedules.list(project, job ?? null, { after, limit: size + 1 })
      const page = rows.slice(0, size)
      const now = storeNow()
      const wanted = page.filter((row) => state === undefined || stateOf(row, now) === state)
      const last = page.at(-1)
      const hasMore = rows.length > size && last !== undefined
      return { data: await show(wanted), next_cursor: hasMore ? encodeCursor(last.id) : null }
    },

    async occurrences(project, job, name, { limit, cursor, ...range }) {
      const record = await schedules.find(project, job, name)
      const now = storeNow()
      const from = cursor === undefined ? (range.from ?? now - DAY_MS) : readNumberCursor(cursor)
      const { until = now + DAY_MS } = range
      const asked = { from, until, limit: pageLimit(limit) }
      return historyPage(record, asked, { store, rules, now })
    },

    async why(project, job, name) {
      const record = await schedules.find(project, job, name)
      const [shown] = await show([record])
      const notice = noticeOf(deps.storeClock)
      const clockHeld = notice?.held ? notice.reason : null
      const lastRefusal = await refusalAt(record, record.lastNominalAt)
      const asOf = { now: storeNow(), mayFire: deps.mayFire(), clockHeld, lastRefusal }
      return explainSchedule(shown as WireSchedule, asOf)
    },

    next: (project, job, count) => nextTimes(project, job, count, deps),

    // `H` and jitter depend on the schedule; a sample schedule stands for any of the project.
    preview: (project, definition, count) =>
      previewSchedule(definition, { zone: deps.zone, seed: project, now: storeNow(), count }),

    away: (project, since = storeNow() - DAY_MS) => summarize(project, since, deps),
  }
}

/** The next times of all schedules of a project, or of one job. */
async function nextTimes(
  project: string,
  job: string | undefined,
  count: number,
  { store, catalog, schedules, rules, storeNow }: ScheduleReaderDeps,
): Promise<WireNextTimes> {
  const now = storeNow()
  const projectId = await catalog.findProject(project)
  if (projectId === null) return { data: [], complete: true }
  const all = { after: 0, limit: LIMITS.schedules }
  const { records, complete } =
    job === undefined
      ? await upcomingSchedules(store, { projectId, rules, now, count })
      : { records: await schedules.list(project, job, all), complete: true }
  await learnJobs(records, catalog)
  const data = earliest(records, rules, now, count).map(({ record: { jobId, name, spec }, at }) => {
    const { rule } = decodeSpec<RuleSource>(spec)
    const which = { job: catalog.jobName(jobId), schedule: name }
    return { ...which, ...showTime(at, rule), words: scheduleWords(rule) }
  })
  return { data, complete }
}

/** Missed, skipped and late times since then. */
async function summarize(
  project: string,
  since: number,
  { store, catalog, storeNow }: ScheduleReaderDeps,
): Promise<WireAway> {
  const until = storeNow()
  const projectId = await catalog.findProject(project)
  const { records, complete } =
    projectId === null
      ? { records: [], complete: true }
      : await unusualOccurrencesSince(store, projectId, since)
  const bySchedule = Map.groupBy(records, ({ scheduleId }) => scheduleId)
  const known = await store.findSchedules([...bySchedule.keys()])
  await learnJobs(known, catalog)
  const named = new Map(known.map((one) => [one.id, one]))
  const summaries = Array.from(bySchedule, ([id, of]) => {
    const schedule = named.get(id)
    const job = schedule ? catalog.jobName(schedule.jobId) : null
    return countOutcomes(of, { id, job, name: schedule?.name ?? null })
  })
  return {
    since: formatTime(since, 'since'),
    until: formatTime(until, 'until'),
    complete,
    schedules: summaries,
  }
}

function learnJobs(records: readonly ScheduleRecord[], catalog: CatalogCache): Promise<void> {
  return catalog.learnNames(
    records.map(({ jobId }) => jobId),
    [],
  )
}
