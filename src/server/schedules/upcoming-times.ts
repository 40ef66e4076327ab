import type { ScheduleRecord, ScheduleStore } from '../../store/port.ts'
import type { RuleBook } from './rule-cache.ts'
import { nextRunAt } from './show-schedule.ts'

/** A time at which a schedule is to fire. */
export interface NextTime {
  readonly record: ScheduleRecord
  readonly at: number
}

const PAGE = 500
/** Schedules of other projects are passed over, but not for ever. */
const MOST = 20_000

/** The `count` times that come first, over all of some schedules. */
export function earliest(
  records: readonly ScheduleRecord[],
  rules: RuleBook,
  now: number,
  count: number,
): NextTime[] {
  const fronts = records.flatMap((record) => {
    const understood = rules(record.spec)
    if (!understood.ok) return []
    const { times } = understood
    const at = nextRunAt(record, times, now)
    return at === null ? [] : [{ record, times, at }]
  })
  const found: NextTime[] = []
  while (found.length < count && fronts.length > 0) {
    const index = indexOfFirst(fronts)
    const { record, times, at } = fronts[index] as (typeof fronts)[number]
    found.push({ record, at })
    // Of one that waits for the end of its run, nobody knows a second time.
    const next = times.afterFinish === null ? times.next(at) : null
    if (next === null) fronts.splice(index, 1)
    else fronts[index] = { record, times, at: next }
  }
  return found
}

/** Those schedules of a project that have anything to do with its `count` next times. */
export async function soonFiring(
  store: Pick<ScheduleStore, 'dueSchedules'>,
  { projectId, rules, now, count, most = MOST }: SoonOptions,
): Promise<{ records: ScheduleRecord[]; complete: boolean }> {
  const own: ScheduleRecord[] = []
  let after: { lookAt: number; id: number } | null = null
  for (let seen = 0; seen < most; seen += PAGE) {
    const page = await store.dueSchedules({ after, until: Number.MAX_SAFE_INTEGER, limit: PAGE })
    own.push(...page.filter((record) => record.projectId === projectId))
    const last: ScheduleRecord | undefined = page.at(-1)
    const all = { records: own, complete: true }
    if (!last || last.next.lookAt === null || page.length < PAGE) return all
    after = { lookAt: last.next.lookAt, id: last.id }
    const latest = earliest(own, rules, now, count).at(count - 1)
    if (latest && latest.at < after.lookAt) return all
  }
  return { records: own, complete: false }
}

export interface SoonOptions {
  readonly projectId: number
  readonly rules: RuleBook
  readonly now: number
  readonly count: number
  /** So many are looked through, of all projects. */
  readonly most?: number
}

function indexOfFirst(fronts: readonly { readonly at: number }[]): number {
  let first = 0
  for (const [index, { at }] of fronts.entries()) {
    if (at < (fronts[first]?.at ?? Infinity)) first = index
  }
  return first
}
