import type { BackfilledTime, OccurrenceRecord } from '../../../store/port.ts'

/** A time, or a range of times, with the runs that backfills made for it. */
export interface MergedTime {
  readonly nominalAt: number
  readonly untilAt: number
  /** The outcome recorded at the due time; undefined for a time before the schedule existed. */
  readonly record: OccurrenceRecord | undefined
  readonly made: readonly BackfilledTime[]
}

/**
 * Merges recorded times and backfilled runs into one order. Both lists are sorted, and a list with
 * `isCut` continues: entries to which the missing part could belong are left out.
 */
export function mergeTimes(
  past: { readonly list: readonly OccurrenceRecord[]; readonly isCut: boolean },
  made: { readonly list: readonly BackfilledTime[]; readonly isCut: boolean },
): MergedTime[] {
  const byTime = Map.groupBy(made.list, ({ nominalAt }) => nominalAt)
  const merged: MergedTime[] = []
  const times = [...byTime]
  let next = 0
  const takeUntil = (untilAt: number): [number, BackfilledTime[]][] => {
    const first = next
    while (next < times.length && (times[next] as [number, unknown])[0] <= untilAt) next += 1
    return times.slice(first, next)
  }
  const alone = ([nominalAt, runs]: [number, BackfilledTime[]]): MergedTime => ({
    nominalAt,
    untilAt: nominalAt,
    record: undefined,
    made: runs,
  })
  for (const record of past.list) {
    const { nominalAt, untilAt } = record
    merged.push(...takeUntil(nominalAt - 1).map(alone))
    const own = takeUntil(untilAt).flatMap(([, runs]) => runs)
    merged.push({ nominalAt, untilAt, record, made: own })
  }
  if (!past.isCut) merged.push(...takeUntil(Number.POSITIVE_INFINITY).map(alone))
  if (!made.isCut) return merged
  const horizon = made.list.at(-1)?.nominalAt ?? 0
  // The first entry is always returned: a range may have more runs than are read at once.
  return merged.filter(({ untilAt }, index) => index === 0 || untilAt < horizon)
}
