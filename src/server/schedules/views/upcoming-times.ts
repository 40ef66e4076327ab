import type { ScheduleRecord, ScheduleStore } from '../../../store/port.ts'
import type { RuleCache } from '../rule-cache.ts'
import { nextRunAt } from './show-schedule.ts'

/** A time at which a schedule is to fire. */
export interface UpcomingTime {
  readonly record: ScheduleRecord
  readonly at: number
}

const PAGE = 500
/** Maximum number of schedules of other projects that are skipped. */
const MOST = 20_000

/** The first `count` times over all of these schedules. */
export function earliest(
  records: readonly ScheduleRecord[],
  rules: RuleCache,
  now: number,
  count: number,
): UpcomingTime[] {
  const fronts = records.flatMap((record) => {
    const parsed = rules(record.spec)
    if (!parsed.ok) return []
    const { times } = parsed
    const at = nextRunAt(record, times, now)
    return at === null ? [] : [{ record, times, at }]
  })
  const found: UpcomingTime[] = []
  while (found.length < count && fronts.length > 0) {
    const index = indexOfFirst(fronts)
    const { record, times, at } = fronts[index] as (typeof fronts)[number]
    found.push({ record, at })
    // A schedule that follows the end of its run has no known second time.
    const next = times.afterFinish === null ? times.next(at) : null
    if (next === null) fronts.splice(index, 1)
    else fronts[index] = { record, times, at: next }
  }
  return found
}

/** The schedules of a project that are involved in its next `count` times. */
export async function upcomingSchedules(
  store: Pick<ScheduleStore, 'dueSchedules'>,
  { projectId, rules, now, count, most = MOST }: SoonOptions,
): Promise<{ records: ScheduleRecord[]; complete: boolean }> {
  const own: ScheduleRecord[] = []
  let after: { checkAt: number; id: number } | null = null
  for (let seen = 0; seen < most; seen += PAGE) {
    const page = await store.dueSchedules({ after, until: Number.MAX_SAFE_INTEGER, limit: PAGE })
    own.push(...page.filter((record) => record.projectId === projectId))
    const last: ScheduleRecord | undefined = page.at(-1)
    const all = { records: own, complete: true }
    if (!last || last.next.checkAt === null || page.length < PAGE) return all
    after = { checkAt: last.next.checkAt, id: last.id }
    const latest = earliest(own, rules, now, count).at(count - 1)
    if (latest && latest.at < after.checkAt) return all
  }
  return { records: own, complete: false }
}

export interface SoonOptions {
  readonly projectId: number
  readonly rules: RuleCache
  readonly now: number
  readonly count: number
  /** Maximum number of schedules examined, of all projects. */
  readonly most?: number
}

function indexOfFirst(fronts: readonly { readonly at: number }[]): number {
  let first = 0
  for (const [index, { at }] of fronts.entries()) {
    if (at < (fronts[first]?.at ?? Infinity)) first = index
  }
  return first
}
