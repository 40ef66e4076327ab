import {
  type BackfillSpec,
  timesAfter,
  timesWithin,
} from '../../core/schedule/backfill/backfill.ts'
import { checkRange } from '../../core/schedule/backfill/backfill-range.ts'
import type {
  BackfillRequest,
  WireBackfill,
  WireBackfillPlan,
} from '../../core/schedule/backfill/views.ts'
import { PunctualError } from '../../core/errors.ts'
import { parsePublicId, publicId } from '../../core/ids.ts'
import { LIMITS } from '../../core/limits.ts'
import { scheduleError } from '../../core/schedule/rule/rule-error.ts'
import type { WirePage } from '../../core/wire/views.ts'
import { formatTime, parseTime } from '../../core/wire/runs.ts'
import type {
  BackfillRecord,
  BackfillStore,
  ScheduleRecord,
  ScheduleStore,
} from '../../store/port.ts'
import { type PastStore, wantedAmong } from '../schedules/backfills/past-times.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import { encodeCursor, readNumberCursor } from '../paging/cursor.ts'
import type { RuleCache } from '../schedules/rule-cache.ts'
import { timeOrNull } from '../schedules/views/show-schedule.ts'
import { auditEntryFor, type RequestedBy } from '../identity/requested-by.ts'
import { pageLimit, type Paging } from '../paging/paging.ts'
import type { ScheduleAdmin } from './schedules.ts'

/** Backfills: past times of schedules for which users request runs. */
export interface BackfillAdmin {
  /** Shows what would be done without doing it. */
  plan(
    project: string,
    job: string,
    name: string,
    asked: BackfillRequest,
  ): Promise<WireBackfillPlan>
  start(by: RequestedBy, job: string, name: string, asked: BackfillRequest): Promise<WireBackfill>
  get(project: string, id: string): Promise<WireBackfill>
  list(project: string, page: Paging): Promise<WirePage<WireBackfill>>
  /** Makes no more runs; existing ones continue. */
  cancel(by: RequestedBy, id: string): Promise<WireBackfill>
}

const DEFAULT_MAX_ACTIVE = 1
/** A priority below runs that are due now. */
const LATER = -5
const SHOWN = 100
const TIMES_AT_ONCE = 500

export interface BackfillAdminDeps {
  readonly store: PastStore & BackfillStore & Pick<ScheduleStore, 'findSchedules'>
  readonly catalog: CatalogCache
  readonly schedules: Pick<ScheduleAdmin, 'find'>
  readonly rules: RuleCache
  mintId(): number
  storeNow(): number
  onStart(): void
}

export function createBackfillAdmin(deps: BackfillAdminDeps): BackfillAdmin {
  const { store, catalog, schedules } = deps

  const find = async (project: string, text: string): Promise<BackfillRecord> => {
    const id = parsePublicId('bkf', text)
    const projectId = await catalog.findProject(project)
    const found =
      id === undefined || projectId === null ? null : await store.findBackfill({ projectId, id })
    if (found) return found
    throw new PunctualError('backfill_not_found', `there is no backfill ${text.slice(0, 40)}`)
  }

  const get = async (project: string, id: string) =>
    (await showBackfills([await find(project, id)], deps))[0] as WireBackfill

  return {
    get,

    async plan(project, job, name, asked) {
      const record = await schedules.find(project, job, name)
      const { spec, times } = readRequest(record, asked, deps)
      const wanted: number[] = []
      const ordered = timesAfter(times, spec.order, null)
      for (let start = 0; start < ordered.length; start += TIMES_AT_ONCE) {
        const some = ordered.slice(start, start + TIMES_AT_ONCE)
        const among = await wantedAmong(store, record.id, some, spec.which)
        wanted.push(...some.filter((at) => among.has(at)))
      }
      return {
        ...showAsked(spec, times.length, job, name),
        dry_run: true,
        runs: wanted.length,
        first: wanted.slice(0, SHOWN).map((at) => formatTime(at, 'first')),
      }
    },

    async start(by, job, name, asked) {
      const record = await schedules.find(by.project, job, name)
      const { spec } = readRequest(record, asked, deps)
      const id = deps.mintId()
      const { projectId, id: scheduleId } = record
      const { schedule: _, ...detail } = spec
      const audit = auditEntryFor(by, projectId, 'schedule.backfill', `${job}/${name}`, detail)
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
      return {
        data: await showBackfills(page, deps),
        next_cursor: hasMore ? encodeCursor(last.id) : null,
      }
    },

    async cancel(by, text) {
      const { id, projectId } = await find(by.project, text)
      const audit = auditEntryFor(by, projectId, 'backfill.cancel', text)
      await store.cancelBackfill({ projectId, id, audit })
      return get(by.project, text)
    },
  }
}

/** The request, and all times it covers. */
function readRequest(
  record: ScheduleRecord,
  asked: BackfillRequest,
  { rules, storeNow }: BackfillAdminDeps,
): { spec: BackfillSpec; times: readonly number[] } {
  const parsed = rules(record.spec)
  if (!parsed.ok) throw scheduleError(parsed.field, parsed.error)
  if (parsed.times.afterFinish !== null) {
    throw scheduleError('from', 'its times depend on when runs ended: there are none to go back to')
  }
  const wanted = {
    from: parseTime(asked.from, 'from'),
    until: asked.until === undefined ? undefined : parseTime(asked.until, 'until'),
  }
  const range = checkRange(wanted, { now: storeNow(), openFrom: record.next.nominalAt })
  if ('field' in range) throw scheduleError(range.field, range.message, range.hint)
  const { from, until } = range
  const times = timesWithin(parsed.times, from, until, LIMITS.backfillTimes)
  if (times === null) {
    const message = `there are more than ${LIMITS.backfillTimes} times in it`
    throw scheduleError('from', message, 'Take a shorter range, and then the next.')
  }
  const { order = 'forward', which = 'missing', priority = LATER } = asked
  const { max_parallel: maxParallel = DEFAULT_MAX_ACTIVE, per_minute: perMinute = null } = asked
  const spec: BackfillSpec = {
    schedule: record.spec,
    from,
    until,
    order,
    which,
    maxParallel,
    perMinute,
    priority,
  }
  return { spec, times }
}

function showAsked(spec: BackfillSpec, times: number, job: string, schedule: string) {
  return {
    job,
    schedule,
    order: spec.order,
    which: spec.which,
    priority: spec.priority,
    times,
    from: formatTime(spec.from, 'from'),
    until: formatTime(spec.until, 'until'),
    max_parallel: spec.maxParallel,
    per_minute: spec.perMinute,
  }
}

async function showBackfills(
  records: readonly BackfillRecord[],
  { store, catalog, rules }: BackfillAdminDeps,
): Promise<WireBackfill[]> {
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
    const parsed = rules(spec.schedule)
    const times = parsed.ok
      ? timesWithin(parsed.times, spec.from, spec.until, LIMITS.backfillTimes)
      : []
    return {
      ...showAsked(spec, times?.length ?? 0, job, schedule?.name ?? ''),
      id: publicId('bkf', record.id),
      state: record.state,
      made: record.made,
      passed: record.passed,
      error: record.error,
      open: record.openRuns.length,
      created_at: formatTime(record.createdAt, 'created_at'),
      finished_at: timeOrNull(record.finishedAt),
    }
  })
}
