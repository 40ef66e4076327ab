import type { BackfilledTime, OccurrenceRecord } from '../../store/port.ts'

/** A time, or a range of them, with the runs that backfills made for it. */
export interface WovenTime {
  readonly nominalAt: number
  readonly untilAt: number
  /** What was written down when it came due; undefined for one before the schedule was there. */
  readonly record: OccurrenceRecord | undefined
  readonly made: readonly BackfilledTime[]
}

/**
 * What became of times and what was made up for later, in one order. Both lists are in their order, and
 * one that `isCut` has more: nothing is told that what was cut off could still belong to.
 */
export function weaveTimes(
  past: { readonly list: readonly OccurrenceRecord[]; readonly isCut: boolean },
  made: { readonly list: readonly BackfilledTime[]; readonly isCut: boolean },
): WovenTime[] {
  const byTime = Map.groupBy(made.list, ({ nominalAt }) => nominalAt)
  const woven: WovenTime[] = []
  const times = [...byTime]
  let next = 0
  const takeUntil = (untilAt: number): [number, BackfilledTime[]][] => {
    const first = next
    while (next < times.length && (times[next] as [number, unknown])[0] <= untilAt) next += 1
    return times.slice(first, next)
  }
  const alone = ([nominalAt, runs]: [number, BackfilledTime[]]): WovenTime => ({
    ...{ nominalAt, untilAt: nominalAt, record: undefined, made: runs },
  })
  for (const record of past.list) {
    const { nominalAt, untilAt } = record
    woven.push(...takeUntil(nominalAt - 1).map(alone))
    const own = takeUntil(untilAt).flatMap(([, runs]) => runs)
    woven.push({ nominalAt, untilAt, record, made: own })
  }
  if (!past.isCut) woven.push(...takeUntil(Number.POSITIVE_INFINITY).map(alone))
  if (!made.isCut) return woven
  const horizon = made.list.at(-1)?.nominalAt ?? 0
  // The first is told in any case: a range may hold more runs than anybody reads at once.
  return woven.filter(({ untilAt }, index) => index === 0 || untilAt < horizon)
}
