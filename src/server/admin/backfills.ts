import {
  type BackfillSpec,
  timesAfter,
  timesWithin,
} from '../../core/schedule/backfill/backfill.ts'
import type {
  BackfillRequest,
  WireBackfill,
  WireBackfillPlan,
} from '../../core/schedule/backfill/views.ts'
import { PunctualError } from '../../core/errors.ts'
import { parsePublicId, publicId } from '../../core/ids.ts'
import { LIMITS } from '../../core/limits.ts'
import { refusal } from '../../core/schedule-refusal.ts'
import type { WirePage } from '../../core/wire/views.ts'
import { formatTime, parseTime } from '../../core/wire/runs.ts'
import type {
  BackfillRecord,
  BackfillStore,
  ScheduleRecord,
  ScheduleStore,
} from '../../store/port.ts'
import { type PastStore, wantedAmong } from '../schedules/backfills/past-times.ts'
import type { Catalog } from '../catalog/catalog-cache.ts'
import { encodeCursor, readNumberCursor } from '../paging/cursor.ts'
import type { RuleBook } from '../schedules/rule-cache.ts'
import { timeOrNull } from '../schedules/show-schedule.ts'
import { auditOf, type By } from '../identity/requested-by.ts'
import type { Paging } from './jobs.ts'
import { pageLimit } from '../paging/paging.ts'
import type { Schedules } from './schedules.ts'

/** Past times of schedules, as people want them to become runs after all. */
export interface Backfills {
  /** What would be done; nothing is. */
  plan(
    project: string,
    job: string,
    name: string,
    asked: BackfillRequest,
  ): Promise<WireBackfillPlan>
  start(by: By, job: string, name: string, asked: BackfillRequest): Promise<WireBackfill>
  get(project: string, id: string): Promise<WireBackfill>
  list(project: string, page: Paging): Promise<WirePage<WireBackfill>>
  /** Makes no more runs; those that are there go on. */
  cancel(by: By, id: string): Promise<WireBackfill>
}

const FEW_AT_ONCE = 1
/** Behind what is due now. */
const LATER = -5
const SHOWN = 100
const TIMES_AT_ONCE = 500

export function createBackfills(deps: {
  readonly store: PastStore & BackfillStore & Pick<ScheduleStore, 'findSchedules'>
  readonly catalog: Catalog
  readonly schedules: Pick<Schedules, 'find'>
  readonly rules: RuleBook
  mintId(): number
  storeNow(): number
  onStart(): void
}): Backfills {
  const { store, catalog, schedules, rules, storeNow } = deps

  /** What is asked for, and all times that it is about. */
  const read = (record: ScheduleRecord, asked: BackfillRequest) => {
    const understood = rules(record.spec)
    if (!understood.ok) throw refusal(understood.field, understood.error)
    if (understood.times.afterFinish !== null) {
      throw refusal('from', 'its times depend on when runs ended: there are none to go back to')
    }
    const now = storeNow()
    const from = parseTime(asked.from, 'from')
    const until = asked.until === undefined ? now : parseTime(asked.until, 'until')
    if (until < from) throw refusal('until', 'it is before `from`')
    // What has not become anything yet is left to the schedule itself.
    const decided = Math.min(until, now, (record.next.nominalAt ?? Infinity) - 1)
    const times = timesWithin(understood.times, from, decided, LIMITS.backfillTimes)
    if (times === null) {
      const message = `there are more than ${LIMITS.backfillTimes} times in it`
      throw refusal('from', message, 'Take a shorter range, and then the next.')
    }
    const { order = 'forward', which = 'missing', priority = LATER } = asked
    const { max_parallel: maxParallel = FEW_AT_ONCE, per_minute: perMinute = null } = asked
    const spec: BackfillSpec = {
      ...{ schedule: record.spec, from, until: Math.max(from, decided), order, which },
      ...{ maxParallel, perMinute, priority },
    }
    return { spec, times }
  }

  const showAsked = (spec: BackfillSpec, times: number, job: string, schedule: string) => ({
    ...{ job, schedule, order: spec.order, which: spec.which, priority: spec.priority, times },
    from: formatTime(spec.from, 'from'),
    until: formatTime(spec.until, 'until'),
    max_parallel: spec.maxParallel,
    per_minute: spec.perMinute,
  })

  const show = async (records: readonly BackfillRecord[]): Promise<WireBackfill[]> => {
    const known = await store.findSchedules([...new Set(records.map((one) => one.scheduleId))])
    await catalog.learnNames(
      known.map(({ jobId }) => jobId),
      [],
    )
    const named = new Map(known.map((one) => [one.id, one]))
    return records.map((record) => {
      const spec = JSON.parse(record.spec) as BackfillSpec
      const schedule = named.get(record.scheduleId)
      const job = schedule ? catalog.jobName(schedule.jobId) : ''
      const understood = rules(spec.schedule)
      const times = understood.ok
        ? timesWithin(understood.times, spec.from, spec.until, LIMITS.backfillTimes)
        : []
      return {
        ...showAsked(spec, times?.length ?? 0, job, schedule?.name ?? ''),
        id: publicId('bkf', record.id),
        ...{ state: record.state, made: record.made, passed: record.passed, error: record.error },
        open: record.openRuns.length,
        created_at: formatTime(record.createdAt, 'created_at'),
        finished_at: timeOrNull(record.finishedAt),
      }
    })
  }

  const find = async (project: string, text: string): Promise<BackfillRecord> => {
    const id = parsePublicId('bkf', text)
    const projectId = await catalog.findProject(project)
    const found =
      id === undefined || projectId === null ? null : await store.findBackfill({ projectId, id })
    if (found) return found
    throw new PunctualError('backfill_not_found', `there is no backfill ${text.slice(0, 40)}`)
  }

  const get = async (project: string, id: string) =>
    (await show([await find(project, id)]))[0] as WireBackfill

  return {
    get,

    async plan(project, job, name, asked) {
      const record = await schedules.find(project, job, name)
      const { spec, times } = read(record, asked)
      const wanted: number[] = []
      const ordered = timesAfter(times, spec.order, null)
      for (let start = 0; start < ordered.length; start += TIMES_AT_ONCE) {
        const some = ordered.slice(start, start + TIMES_AT_ONCE)
        const among = await wantedAmong(store, record.id, some, spec.which)
        wanted.push(...some.filter((at) => among.has(at)))
      }
      return {
        ...showAsked(spec, times.length, job, name),
        ...{ dry_run: true, runs: wanted.length },
        first: wanted.slice(0, SHOWN).map((at) => formatTime(at, 'first')),
      }
    },

    async start(by, job, name, asked) {
      const record = await schedules.find(by.project, job, name)
      const { spec } = read(record, asked)
      const id = deps.mintId()
      const { projectId, id: scheduleId } = record
      const { schedule: _, ...detail } = spec
      const audit = auditOf(by, projectId, 'schedule.backfill', `${job}/${name}`, detail)
      await store.addBackfill({ id, projectId, scheduleId, spec: JSON.stringify(spec), audit })
      deps.onStart()
      return get(by.project, publicId('bkf', id))
    },

    async list(project, { limit, cursor }) {
      const projectId = await catalog.findProject(project)
      if (projectId === null) return { data: [], next_cursor: null }
      const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : readNumberCursor(cursor)
      const size = pageLimit(limit)
      const rows = await store.listBackfills({ projectId, before, limit: size + 1 })
      const page = rows.slice(0, size)
      const last = page.at(-1)
      const hasMore = rows.length > size && last !== undefined
      return { data: await show(page), next_cursor: hasMore ? encodeCursor(last.id) : null }
    },

    async cancel(by, text) {
      const { id, projectId } = await find(by.project, text)
      const audit = auditOf(by, projectId, 'backfill.cancel', text)
      await store.cancelBackfill({ projectId, id, audit })
      return get(by.project, text)
    },
  }
}
